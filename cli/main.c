/* The program. */
#include "program.h"

int main(int argc, char **argv) {
    return cli_program_run(argc, argv, NULL);
}
