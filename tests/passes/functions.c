/* Reads the symbols of the running program once, sorted by address, and finds addresses among them. */
#include "functions.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct function *functions;
static size_t count;

static void give_up(const char *why) {
    fprintf(stderr, "passes: %s\n", why);
    abort();
}

static const char *map_program(void) {
    struct stat info;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        give_up("cannot open the program");
    const char *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        give_up("cannot map the program");
    return bytes;
}

/* The program comes first in the list of what is loaded. */
static int take_base(struct dl_phdr_info *info, size_t size, void *base) {
    (void)size;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1;
}

static int by_address(const void *a, const void *b) {
    const struct function *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The symbol of a file comes before those of its static functions. */
static void take_symbols(const Elf64_Sym *symbols, size_t symbol_count, const char *names, uintptr_t base) {
    const char *file = NULL;
    functions = calloc(symbol_count, sizeof *functions);
    if (!functions)
        give_up("memory is short");
    for (size_t i = 0; i < symbol_count; i++) {
        const char *name = names + symbols[i].st_name;
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FILE)
            file = name;
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_value)
            functions[count++] = (struct function){base + symbols[i].st_value, name,
                                                   ELF64_ST_BIND(symbols[i].st_info) == STB_LOCAL ? file : NULL};
    }
    qsort(functions, count, sizeof *functions, by_address);
}

static void read_program(void) {
    const char *bytes = map_program();
    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
    uintptr_t base = 0;
    dl_iterate_phdr(take_base, &base);
    for (size_t i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB)
            take_symbols((const void *)(bytes + sections[i].sh_offset), sections[i].sh_size / sizeof(Elf64_Sym),
                         bytes + sections[sections[i].sh_link].sh_offset, base);
    if (!count)
        give_up("the program has no symbols");
}

size_t function_at(uintptr_t address) {
    if (!functions)
        read_program();
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (functions[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : SIZE_MAX;
}

const struct function *function_of_index(size_t index) {
    return &functions[index];
}

size_t function_count(void) {
    return count;
}
