/*
 * PTX as a compiler prints it, with declarations of registers and blocks in
 * braces, as a snippet whose registers' names say what they hold
 * (ptx/snippet.h):
 *
 *     {
 *     .reg .b16 %rs<3>;             fma.rn.f32 %f2, %f2, %f2, %f2;
 *     .reg .f32 %f<3>;        ->    add.s16 %h3, %h3, 1;
 *     fma.rn.f32 %f2, %f2, %f2, %f2;
 *     add.s16 %rs2, %rs2, 1;
 *     }
 *
 * A name that says so already stays; lines stay where they are, so that a
 * complaint names the user's.
 */
#ifndef SONDE_API_PTX_BLOCK_H
#define SONDE_API_PTX_BLOCK_H

#include "base/error.h"

/* ERR_USAGE, with the line, for what a snippet cannot be: a whole kernel, a
 * register of a kind that none has, braces that do not match.  The caller frees
 * `snippet`, which is NULL then. */
int ptx_block_read(const char *text, char **snippet, struct error *err);

#endif
