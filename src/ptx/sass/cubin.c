#include "ptx/sass/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef EM_CUDA
enum { EM_CUDA = 190 };
#endif
/* The first ABI version that has the architecture in the second byte. */
enum { ABI_SECOND_BYTE = 8 };

static const char TEXT[] = ".text.";

/* The file, and its head where it can be read at any alignment. */
struct elf {
    const unsigned char *bytes;
    size_t length;
    Elf64_Ehdr head;
};

static int damaged(struct error *err, const char *what)
{
    return error_set(err, ERR_FILE, "the cubin is damaged: %s", what);
}

static int read_head(struct elf *elf, struct error *err)
{
    if (elf->length < sizeof elf->head)
        return damaged(err, "it is shorter than the head of an ELF file");
    memcpy(&elf->head, elf->bytes, sizeof elf->head);
    if (memcmp(elf->head.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->head.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf->head.e_ident[EI_DATA] != ELFDATA2LSB)
        return damaged(err, "it does not begin as an ELF file of 64 bits");
    if (elf->head.e_machine != EM_CUDA)
        return damaged(err, "it is an ELF file of another machine");
    if (elf->head.e_shentsize != sizeof(Elf64_Shdr))
        return damaged(err, "its section headers have another size");
    return 0;
}

/* True if the file holds `size` bytes from there on. */
static bool holds(const struct elf *elf, uint64_t from, uint64_t size)
{
    return from <= elf->length && size <= elf->length - from;
}

static bool read_section(const struct elf *elf, uint64_t i, Elf64_Shdr *section)
{
    const uint64_t from = elf->head.e_shoff + i * sizeof *section;
    if (i >= elf->head.e_shnum || from < elf->head.e_shoff ||
        !holds(elf, from, sizeof *section))
        return false;
    memcpy(section, elf->bytes + from, sizeof *section);
    return section->sh_type == SHT_NOBITS ||
           holds(elf, section->sh_offset, section->sh_size);
}

/* True if there is the name of the code of that kernel. */
static bool is_text(const struct elf *elf, const Elf64_Shdr *names, uint64_t at,
                    const char *kernel)
{
    const size_t prefix = sizeof TEXT - 1, rest = strlen(kernel) + 1;
    if (at > names->sh_size || prefix + rest > names->sh_size - at)
        return false;
    const unsigned char *const name = elf->bytes + names->sh_offset + at;
    return memcmp(name, TEXT, prefix) == 0 &&
           memcmp(name + prefix, kernel, rest) == 0;
}

static unsigned architecture(const Elf64_Ehdr *head)
{
    const bool second = head->e_ident[EI_ABIVERSION] >= ABI_SECOND_BYTE;
    return head->e_flags >> (second ? 8 : 0) & 0xff;
}

int cubin_read(const void *file, size_t length, const char *kernel,
               struct cubin *cubin, struct error *err)
{
    struct elf elf = {.bytes = file, .length = length};
    Elf64_Shdr names, section;
    if (read_head(&elf, err) != 0)
        return err->code;
    if (!read_section(&elf, elf.head.e_shstrndx, &names) ||
        names.sh_type != SHT_STRTAB)
        return damaged(err, "it has no names of sections");
    for (uint64_t i = 0; i < elf.head.e_shnum; i++) {
        if (!read_section(&elf, i, &section))
            return damaged(err, "a section lies outside the file");
        if (section.sh_type != SHT_PROGBITS ||
            !is_text(&elf, &names, section.sh_name, kernel))
            continue;
        *cubin = (struct cubin){architecture(&elf.head),
                                elf.bytes + section.sh_offset, section.sh_size};
        return 0;
    }
    return error_set(err, ERR_UNSUPPORTED, "the cubin has no kernel %s",
                     kernel);
}
