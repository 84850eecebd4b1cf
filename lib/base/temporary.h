/* Temporary files that take the name of a result once they are whole, and that a program which is interrupted can
   remove. */
#ifndef GT_BASE_TEMPORARY_H
#define GT_BASE_TEMPORARY_H

/* Zeroed: none. */
struct gt_temporary {
    char *path;
    struct gt_temporary_slot *slot; /* where a signal handler finds the path; NULL: nowhere */
};

/* Makes a new file in the folder of target. Gives its descriptor, -1 with errno if it cannot. */
int gt_temporary_open(struct gt_temporary *temporary, const char *target);

/* Gives the file the target's name, for good. -1 with errno: it could not, and the file is still there. */
int gt_temporary_rename(struct gt_temporary *temporary, const char *target);

void gt_temporary_remove(struct gt_temporary *temporary); /* may be empty */

/* Removes the temporaries of all threads; safe in a signal handler. Renaming them fails from then on. */
void gt_temporary_remove_all(void);

#endif
