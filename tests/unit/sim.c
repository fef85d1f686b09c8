/* The simulator's programs: what each instruction computes, how warps run,
 * and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stop.h"
#include "device/sim/sim.h"
#include "testing.h"
#include "unit/sim_rig.h"

/* An instruction with its sources in the registers 1, 2, 3 of their kind (and
 * 4), and what is then in register 0 of the kind `to`: h, r, d (%rd), f, e
 * (%d), p. */
struct arithmetic {
    const char *text;
    char to;
    uint64_t a, b, c;
    uint64_t result;
};

/* clang-format off */
static const struct arithmetic integers[] = {
    {"add.u32 %r0, %r1, %r2", 'r', 0xffffffff, 2, 0, 1},
    {"add.s64 %rd0, %rd1, %rd2", 'd', UINT64_MAX, 2, 0, 1},
    {"add.u16 %h0, %h1, %h2", 'h', 0xffff, 2, 0, 1},
    {"sub.s32 %r0, %r1, %r2", 'r', 1, 2, 0, 0xffffffff},
    {"mul.lo.u32 %r0, %r1, %r2", 'r', 0x10001, 0x10001, 0, 0x20001},
    {"mul.hi.u32 %r0, %r1, %r2", 'r', 0xffffffff, 0xffffffff, 0, 0xfffffffe},
    {"mul.hi.s32 %r0, %r1, %r2", 'r', 0xffffffff, 2, 0, 0xffffffff},
    {"mul.hi.u64 %rd0, %rd1, %rd2", 'd', UINT64_MAX, UINT64_MAX, 0,
     UINT64_MAX - 1},
    {"mul.hi.s64 %rd0, %rd1, %rd2", 'd', UINT64_MAX, 3, 0, UINT64_MAX},
    {"mul.wide.u32 %rd0, %r1, %r2", 'd', 0xffffffff, 0xffffffff, 0,
     0xfffffffe00000001},
    {"mul.wide.s32 %rd0, %r1, %r2", 'd', 0xffffffff, 5, 0, (uint64_t)-5},
    {"mul.wide.u16 %r0, %h1, %h2", 'r', 0xffff, 0xffff, 0, 0xfffe0001},
    {"mad.lo.u32 %r0, %r1, %r2, %r3", 'r', 3, 4, 5, 17},
    {"mad.hi.u32 %r0, %r1, %r2, %r3", 'r', 0x80000000, 4, 5, 7},
    {"mad.wide.u32 %rd0, %r1, %r2, %rd3", 'd', 0xffffffff, 2, 1, 0x1ffffffff},
    {"mad.wide.s32 %rd0, %r1, %r2, %rd3", 'd', 0xffffffff, 2, 1, (uint64_t)-1},
    {"mul24.lo.u32 %r0, %r1, %r2", 'r', 0xff000003, 5, 0, 15},
    {"mad24.lo.s32 %r0, %r1, %r2, %r3", 'r', 0xffffff, 5, 1, 0xfffffffc},
    {"div.u32 %r0, %r1, %r2", 'r', 17, 5, 0, 3},
    {"div.u32 %r0, %r1, %r2", 'r', 17, 0, 0, 0xffffffff},
    {"div.s32 %r0, %r1, %r2", 'r', (uint32_t)-17, 5, 0, (uint32_t)-3},
    {"div.s32 %r0, %r1, %r2", 'r', 0x80000000, 0xffffffff, 0, 0x80000000},
    {"div.s64 %rd0, %rd1, %rd2", 'd', (uint64_t)-17, 5, 0, (uint64_t)-3},
    {"rem.u64 %rd0, %rd1, %rd2", 'd', 17, 5, 0, 2},
    {"rem.s32 %r0, %r1, %r2", 'r', (uint32_t)-17, 5, 0, (uint32_t)-2},
    {"rem.s32 %r0, %r1, %r2", 'r', 0x80000000, 0xffffffff, 0, 0},
    {"min.s32 %r0, %r1, %r2", 'r', 0xffffffff, 1, 0, 0xffffffff},
    {"min.u32 %r0, %r1, %r2", 'r', 0xffffffff, 1, 0, 1},
    {"max.s64 %rd0, %rd1, %rd2", 'd', UINT64_MAX, 1, 0, 1},
    {"max.u16 %h0, %h1, %h2", 'h', 0xffff, 1, 0, 0xffff},
    {"neg.s32 %r0, %r1", 'r', 5, 0, 0, (uint32_t)-5},
    {"abs.s32 %r0, %r1", 'r', (uint32_t)-5, 0, 0, 5},
    {"abs.s64 %rd0, %rd1", 'd', (uint64_t)-5, 0, 0, 5},
    {"and.b32 %r0, %r1, %r2", 'r', 12, 10, 0, 8},
    {"or.b64 %rd0, %rd1, %rd2", 'd', 12, 10, 0, 14},
    {"xor.b16 %h0, %h1, %h2", 'h', 12, 10, 0, 6},
    {"not.b32 %r0, %r1", 'r', 5, 0, 0, 0xfffffffa},
    {"cnot.b32 %r0, %r1", 'r', 0, 0, 0, 1},
    {"shl.b32 %r0, %r1, %r2", 'r', 3, 31, 0, 0x80000000},
    {"shl.b32 %r0, %r1, %r2", 'r', 3, 32, 0, 0},
    {"shl.b64 %rd0, %rd1, %r2", 'd', 3, 63, 0, 0x8000000000000000},
    {"shr.u32 %r0, %r1, %r2", 'r', 0x80000000, 31, 0, 1},
    {"shr.u32 %r0, %r1, %r2", 'r', 0x80000000, 32, 0, 0},
    {"shr.s32 %r0, %r1, %r2", 'r', 0x80000000, 40, 0, 0xffffffff},
    {"shr.s64 %rd0, %rd1, %r2", 'd', 0x8000000000000000, 4, 0,
     0xf800000000000000},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3", 'r', 0x80000000, 1, 33, 3},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3", 'r', 5, 7, 40, 7},
    {"popc.b32 %r0, %r1", 'r', 0xf0f0, 0, 0, 8},
    {"popc.b64 %r0, %rd1", 'r', UINT64_MAX, 0, 0, 64},
    {"clz.b32 %r0, %r1", 'r', 1, 0, 0, 31},
    {"clz.b32 %r0, %r1", 'r', 0, 0, 0, 32},
    {"clz.b64 %r0, %rd1", 'r', 1, 0, 0, 63},
    {"bfind.u32 %r0, %r1", 'r', 0x100, 0, 0, 8},
    {"bfind.s32 %r0, %r1", 'r', 0xffffffff, 0, 0, 0xffffffff},
    {"brev.b32 %r0, %r1", 'r', 1, 0, 0, 0x80000000},
    {"brev.b64 %rd0, %rd1", 'd', 3, 0, 0, 0xc000000000000000},
    {"bfe.u32 %r0, %r1, %r2, %r3", 'r', 0xabcd, 4, 8, 0xbc},
    {"bfe.s32 %r0, %r1, %r2, %r3", 'r', 0xabcd, 4, 8, 0xffffffbc},
    {"bfe.s32 %r0, %r1, %r2, %r3", 'r', 0x80000000, 28, 8, 0xfffffff8},
    {"bfe.u64 %rd0, %rd1, %r2, %r3", 'd', 0xabcd000000000, 36, 8, 0xcd},
    {"bfi.b32 %r0, %r1, %r2, 4, 8", 'r', 0x12, 0xffffffff, 0, 0xfffff12f},
    {"prmt.b32 %r0, %r1, %r2, %r3", 'r', 0x33221100, 0x77665544, 0x7450,
     0x77445500},
    {"prmt.b32 %r0, %r1, %r2, %r3", 'r', 0x80, 0, 0x8888, 0xffffffff},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x96", 'r', 12, 10, 9, 12 ^ 10 ^ 9},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0xe8", 'r', 12, 10, 9, 8},
    {"sad.s32 %r0, %r1, %r2, %r3", 'r', (uint32_t)-3, 4, 10, 17},
    {"sad.u32 %r0, %r1, %r2, %r3", 'r', 3, 9, 10, 16},
    {"dp4a.s32.s32 %r0, %r1, %r2, %r3", 'r', 0xff020304, 0x01010101, 5, 13},
    /* The carry of a 64-bit sum in two halves, and its borrow. */
    {"add.cc.u32 %r0, %r1, %r2; addc.u32 %r0, %r3, 0", 'r', 0xffffffff, 1, 5,
     6},
    {"add.cc.u32 %r0, %r1, %r2; addc.u32 %r0, %r3, 0", 'r', 0xfffffffe, 1, 5,
     5},
    {"add.cc.s32 %r0, %r1, %r2; addc.cc.s32 %r0, %r3, 0; addc.s32 %r0, 0, 0",
     'r', 0xffffffff, 1, 0xffffffff, 1},
    {"add.cc.u64 %rd0, %rd1, %rd2; addc.u64 %rd0, %rd3, 0", 'd', UINT64_MAX, 1,
     5, 6},
    {"add.cc.u64 %rd0, %rd1, %rd2; addc.cc.u64 %rd0, %rd3, %rd1;"
     "addc.s64 %rd0, 0, 0", 'd', UINT64_MAX, 1, 0, 1},
    {"sub.cc.u32 %r0, %r1, %r2; subc.u32 %r0, %r3, 0", 'r', 0, 1, 5, 4},
    {"sub.cc.u32 %r0, %r1, %r2; subc.u32 %r0, %r3, 0", 'r', 1, 1, 5, 5},
    {"sub.cc.s32 %r0, %r1, %r2; subc.cc.s32 %r0, %r3, 0; subc.s32 %r0, 0, 0",
     'r', 0, 1, 0, 0xffffffff},
    {"mad.lo.cc.u32 %r0, %r1, %r2, %r3; addc.u32 %r0, %r1, 0", 'r', 0x10000,
     0xffff, 0x10000, 0x10001},
    {"mad.lo.cc.u32 %r0, %r1, %r2, %r3; madc.hi.u32 %r0, %r1, %r2, %r3", 'r',
     0xffffffff, 0xffffffff, 0xffffffff, 0xfffffffe},
    {"mad.hi.cc.s32 %r0, %r1, %r2, %r3; addc.u32 %r0, 0, 0", 'r', 0xffffffff,
     2, 1, 1},
    {"mad.hi.cc.s64 %rd0, %rd1, %rd2, %rd3; addc.u64 %rd0, 0, 0", 'd',
     UINT64_MAX, 2, 1, 1},
    {"add.cc.u32 %r0, %r1, %r2; madc.lo.u32 %r0, %r1, %r2, %r3", 'r',
     0xffffffff, 2, 7, 6},
    {"add.cc.u32 %r0, %r1, %r2; madc.lo.cc.s32 %r0, %r1, %r2, %r3;"
     "addc.u32 %r0, 0, 0", 'r', 0xffffffff, 1, 0, 1},
    {"add.sat.s32 %r0, %r1, %r2", 'r', 0x7fffffff, 1, 0, 0x7fffffff},
    {"add.sat.s32 %r0, %r1, %r2", 'r', 5, 0xfffffffe, 0, 3},
    {"sub.sat.s32 %r0, %r1, %r2", 'r', 0x80000000, 1, 0, 0x80000000},
    {"mad.hi.sat.s32 %r0, %r1, %r2, %r3", 'r', 0x40000000, 0x40000000,
     0x7fffffff, 0x7fffffff},
    {"mad.wide.u16 %r0, %h1, %h2, %r3", 'r', 0xffff, 2, 3, 0x20001},
    {"mul24.hi.u32 %r0, %r1, %r2", 'r', 0xff800000, 0x10000, 0, 0x800000},
    {"mul24.hi.s32 %r0, %r1, %r2", 'r', 0x800000, 0x10000, 0, 0xff800000},
    {"mad24.hi.u32 %r0, %r1, %r2, %r3", 'r', 0x800000, 0x10000, 1, 0x800001},
    {"bfind.shiftamt.u32 %r0, %r1", 'r', 0x100, 0, 0, 23},
    {"bfind.shiftamt.u32 %r0, %r1", 'r', 0, 0, 0, 0xffffffff},
    {"bfind.shiftamt.s32 %r0, %r1", 'r', 0xfffffffe, 0, 0, 31},
    {"bfind.shiftamt.u64 %r0, %rd1", 'r', 1, 0, 0, 63},
    {"bfind.s64 %r0, %rd1", 'r', UINT64_MAX << 40, 0, 0, 39},
    {"bmsk.clamp.b32 %r0, %r1, %r2", 'r', 4, 8, 0, 0xff0},
    {"bmsk.clamp.b32 %r0, %r1, %r2", 'r', 4, 40, 0, 0xfffffff0},
    {"bmsk.clamp.b32 %r0, %r1, %r2", 'r', 32, 4, 0, 0},
    {"bmsk.wrap.b32 %r0, %r1, %r2", 'r', 33, 34, 0, 6},
    {"szext.clamp.s32 %r0, %r1, %r2", 'r', 0x80, 8, 0, 0xffffff80},
    {"szext.clamp.u32 %r0, %r1, %r2", 'r', 0x1ff, 8, 0, 0xff},
    {"szext.clamp.s32 %r0, %r1, %r2", 'r', 0x12345678, 40, 0, 0x12345678},
    {"szext.wrap.u32 %r0, %r1, %r2", 'r', 0x1ff, 36, 0, 15},
    {"szext.wrap.u32 %r0, %r1, %r2", 'r', 0x1ff, 32, 0, 0},
    {"fns.b32 %r0, %r1, %r2, %r3", 'r', 0xf0, 0, 2, 5},
    {"fns.b32 %r0, %r1, %r2, %r3", 'r', 0xf0, 6, 0xfffffffe, 5},
    {"fns.b32 %r0, %r1, %r2, %r3", 'r', 0xf0, 4, 0, 4},
    {"fns.b32 %r0, %r1, %r2, %r3", 'r', 0xf0, 3, 0, 0xffffffff},
    {"fns.b32 %r0, %r1, %r2, %r3", 'r', 0xf0, 0, 5, 0xffffffff},
    {"prmt.b32.f4e %r0, %r1, %r2, %r3", 'r', 0x33221100, 0x77665544, 1,
     0x44332211},
    {"prmt.b32.b4e %r0, %r1, %r2, %r3", 'r', 0x33221100, 0x77665544, 1,
     0x66770011},
    {"prmt.b32.rc8 %r0, %r1, %r2, %r3", 'r', 0x33221100, 0x77665544, 6,
     0x22222222},
    {"prmt.b32.ecl %r0, %r1, %r2, %r3", 'r', 0x33221100, 0x77665544, 2,
     0x33222222},
    {"prmt.b32.ecr %r0, %r1, %r2, %r3", 'r', 0x33221100, 0x77665544, 1,
     0x11111100},
    {"prmt.b32.rc16 %r0, %r1, %r2, %r3", 'r', 0x33221100, 0x77665544, 1,
     0x33223322},
    {"dp4a.u32.s32 %r0, %r1, %r2, %r3", 'r', 0xff, 0xff, 5, 0xffffff06},
    {"dp2a.lo.u32.u32 %r0, %r1, %r2, %r3", 'r', 0x0003ffff, 0x07060504, 1,
     0x4000c},
    {"dp2a.hi.s32.u32 %r0, %r1, %r2, %r3", 'r', 0x0003ffff, 0x07060504, 1,
     16},
    {"sad.s64 %rd0, %rd1, %rd2, %rd3", 'd', (uint64_t)-3, 4, 10, 17},
    {"sad.u16 %h0, %h1, %h2, %h3", 'h', 3, 9, 10, 16},
    {"slct.b64.f32 %rd0, %rd1, %rd2, %f3", 'd', 7, 8, 0xbf800000, 8},
    {"set.lt.u32.s32 %r0, %r1, %r2", 'r', 0xffffffff, 1, 0, 0xffffffff},
    {"set.lt.u32.u32 %r0, %r1, %r2", 'r', 0xffffffff, 1, 0, 0},
    {"set.eq.f32.u32 %f0, %r1, %r2", 'f', 5, 5, 0, 0x3f800000},
    {"set.eq.and.s32.b64 %r0, %rd1, %rd2, !%p7", 'r', 5, 5, 0, 0},
    {"set.ne.or.s32.u16 %r0, %h1, %h2, %p7", 'r', 5, 5, 0, 0xffffffff},
    {"set.gt.u32.f64 %r0, %d1, %d2", 'r', 0x4000000000000000, 0, 0,
     0xffffffff},
    {"isspacep.global %p0, %in", 'p', 0, 0, 0, 1},
    {"isspacep.shared %p0, %in", 'p', 0, 0, 0, 0},
    {"cvta.shared.u64 %rd0, %rd1; isspacep.shared %p0, %rd0", 'p', 8, 0, 0, 1},
    {"cvta.local.u64 %rd0, %rd1; isspacep.shared %p0, %rd0", 'p', 8, 0, 0, 0},
    {"selp.b32 %r0, %r1, %r2, %p7", 'r', 7, 8, 0, 7},
    {"slct.u32.s32 %r0, %r1, %r2, %r3", 'r', 7, 8, 0xffffffff, 8},
    {"mov.b64 %rd0, {%r1, %r2}", 'd', 1, 2, 0, 0x200000001},
    {"mov.b64 {%r0, %r4}, %rd1", 'r', 0x500000003, 0, 0, 3},
    {"mov.b64 {%r4, %r0}, %rd1", 'r', 0x500000003, 0, 0, 5},
    {"mov.b32 %r0, {%h1, %h2}", 'r', 1, 2, 0, 0x20001},
    {"mov.u32 %r0, -1", 'r', 0, 0, 0, 0xffffffff},
    {"mov.u32 %r0, 0x10", 'r', 0, 0, 0, 16},
    {"mov.u32 %r0, 010", 'r', 0, 0, 0, 8},
    {"mov.u32 %r0, WARP_SZ", 'r', 0, 0, 0, 32},
    {"mov.b32 %r0, 0f3f800000", 'r', 0, 0, 0, 0x3f800000},
    {"setp.lt.s32 %p0, %r1, %r2", 'p', 0xffffffff, 1, 0, 1},
    {"setp.lt.u32 %p0, %r1, %r2", 'p', 0xffffffff, 1, 0, 0},
    {"setp.hi.u32 %p0, %r1, %r2", 'p', 0xffffffff, 1, 0, 1},
    {"setp.eq.b64 %p0, %rd1, %rd2", 'p', 5, 5, 0, 1},
    {"setp.ge.and.u32 %p0, %r1, %r2, %p7", 'p', 5, 5, 0, 1},
    {"setp.ge.and.u32 %p0, %r1, %r2, !%p7", 'p', 5, 5, 0, 0},
    {"setp.lt.or.u32 %p0, %r1, %r2, %p7", 'p', 5, 5, 0, 1},
    {"setp.ge.xor.u32 %p0, %r1, %r2, %p7", 'p', 5, 5, 0, 0},
    {"setp.lt.u32 %p1|%p0, %r1, %r2", 'p', 5, 5, 0, 1},
    {"not.pred %p0, %p7", 'p', 0, 0, 0, 0},
    {"and.pred %p0, %p7, %p6", 'p', 0, 0, 0, 0},
    {"or.pred %p0, %p7, %p6", 'p', 0, 0, 0, 1},
};
/* clang-format on */

/* clang-format off */
static const struct arithmetic conversions[] = {
    {"cvt.u64.u32 %rd0, %r1", 'd', 0xffffffff, 0, 0, 0xffffffff},
    {"cvt.s64.s32 %rd0, %r1", 'd', 0xffffffff, 0, 0, UINT64_MAX},
    {"cvt.u32.u64 %r0, %rd1", 'r', 0x123456789, 0, 0, 0x23456789},
    {"cvt.u16.u32 %h0, %r1", 'h', 0x12345, 0, 0, 0x2345},
    {"cvt.s32.s8 %r0, %r1", 'r', 0x80, 0, 0, 0xffffff80},
    {"cvt.u32.u8 %r0, %r1", 'r', 0x1ff, 0, 0, 0xff},
    {"cvt.sat.u8.s32 %r0, %r1", 'r', (uint32_t)-5, 0, 0, 0},
    {"cvt.sat.u8.s32 %r0, %r1", 'r', 300, 0, 0, 255},
    {"cvt.sat.s8.s32 %r0, %r1", 'r', (uint32_t)-300, 0, 0, 0xffffff80},
    {"cvt.rn.f32.u32 %f0, %r1", 'f', 16777217, 0, 0, 0x4b800000},
    {"cvt.rz.f32.u32 %f0, %r1", 'f', 16777219, 0, 0, 0x4b800001},
    {"cvt.rp.f32.u32 %f0, %r1", 'f', 16777217, 0, 0, 0x4b800001},
    {"cvt.rn.f64.s32 %d0, %r1", 'e', (uint32_t)-2, 0, 0, 0xc000000000000000},
    {"cvt.f64.f32 %d0, %f1", 'e', 0x40400000, 0, 0, 0x4008000000000000},
    {"cvt.rn.f32.f64 %f0, %d1", 'f', 0x4008000000000000, 0, 0, 0x40400000},
    {"cvt.rni.s32.f32 %r0, %f1", 'r', 0xc0200000, 0, 0, (uint32_t)-2},
    {"cvt.rzi.s32.f32 %r0, %f1", 'r', 0xc03ccccd, 0, 0, (uint32_t)-2},
    {"cvt.rmi.s32.f32 %r0, %f1", 'r', 0xc0200000, 0, 0, (uint32_t)-3},
    {"cvt.rpi.s32.f32 %r0, %f1", 'r', 0x40200000, 0, 0, 3},
    {"cvt.rzi.u32.f32 %r0, %f1", 'r', 0xc0200000, 0, 0, 0},
    {"cvt.rzi.s32.f32 %r0, %f1", 'r', 0x7fc00000, 0, 0, 0},
    {"cvt.rzi.s32.f32 %r0, %f1", 'r', 0x7f800000, 0, 0, 0x7fffffff},
    {"cvt.rzi.u64.f64 %rd0, %d1", 'd', 0x43f0000000000000, 0, 0, UINT64_MAX},
    {"cvt.rn.f16.f32 %h0, %f1", 'h', 0x3f800000, 0, 0, 0x3c00},
    {"cvt.rn.f16.f32 %h0, %f1", 'h', 0x477fe000, 0, 0, 0x7bff},
    {"cvt.rn.f16.f32 %h0, %f1", 'h', 0x477ff000, 0, 0, 0x7c00},
    {"cvt.rn.f16.f32 %h0, %f1", 'h', 0x33800000, 0, 0, 1},
    {"cvt.rn.f16.f32 %h0, %f1", 'h', 0x3f7ff000, 0, 0, 0x3c00},
    {"cvt.f32.f16 %f0, %h1", 'f', 0xc000, 0, 0, 0xc0000000},
    {"cvt.f32.f16 %f0, %h1", 'f', 1, 0, 0, 0x33800000},
    /* Registers may be wider than the type, or have none. */
    {"mov.b64 %rd0, %rd1; cvt.u64.u32 %rd0, %rd0", 'd', 0x123456789, 0, 0,
     0x23456789},
    {"mov.b64 %rd0, %rd1; cvt.u32.u64 %rd0, %rd0", 'd', 0x123456789, 0, 0,
     0x23456789},
    {"mov.b32 %r0, %r1; cvt.u16.u32 %r0, %r0", 'r', 0x12345, 0, 0, 0x2345},
    {"mov.b32 %r0, %r1; cvt.s16.s32 %r0, %r0", 'r', 0x1f345, 0, 0,
     0xfffff345},
    {"mov.b32 %r0, %r1; cvt.s8.s32 %r0, %r0", 'r', 0x180, 0, 0, 0xffffff80},
    {"mov.b32 %r0, %r1; cvt.rn.f32.u32 %r0, %r0", 'r', 3, 0, 0, 0x40400000},
    {"mov.b32 %r0, %r1; cvt.rzi.s32.f32 %r0, %r0", 'r', 0x40400000, 0, 0, 3},
    {"cvt.u8.u16 %h0, %h1", 'h', 0x1234, 0, 0, 0x34},
    {"cvt.s64.s16 %rd0, %h1", 'd', 0x8000, 0, 0, 0xffffffffffff8000},
    {"cvt.sat.u32.s64 %r0, %rd1", 'r', UINT64_MAX, 0, 0, 0},
    {"cvt.rn.f16.u32 %h0, %r1", 'h', 2049, 0, 0, 0x6800},
    {"cvt.rn.f16.f64 %h0, %d1", 'h', 0x3ff8000000000000, 0, 0, 0x3e00},
    {"cvt.f64.f16 %d0, %h1", 'e', 0x3e00, 0, 0, 0x3ff8000000000000},
    {"cvt.rzi.s16.f16 %h0, %h1", 'h', 0xc100, 0, 0, 0xfffe},
    {"cvt.rn.f64.u64 %d0, %rd1", 'e', UINT64_MAX, 0, 0, 0x43f0000000000000},
    {"cvt.rz.f16.f32 %h0, %f1", 'h', 0x477ff000, 0, 0, 0x7bff},
    {"cvt.rz.f16.f32 %h0, %f1", 'h', 0x3f803000, 0, 0, 0x3c01},
    {"cvt.rn.f16.f32 %h0, %f1", 'h', 0x3f803000, 0, 0, 0x3c02},
    {"cvt.rm.f16.f32 %h0, %f1", 'h', 0xbf801000, 0, 0, 0xbc01},
    {"cvt.rn.relu.f16.f32 %h0, %f1", 'h', 0xbf800000, 0, 0, 0},
    {"cvt.rn.bf16.f32 %h0, %f1", 'h', 0x3f808000, 0, 0, 0x3f80},
    {"cvt.rn.bf16.f32 %h0, %f1", 'h', 0x3f818000, 0, 0, 0x3f82},
    {"cvt.rz.bf16.f32 %h0, %f1", 'h', 0x3f81ffff, 0, 0, 0x3f81},
    {"cvt.rn.bf16.f32 %h0, %f1", 'h', 1 << 16, 0, 0, 1},
    {"cvt.rn.bf16.f32 %h0, %f1", 'h', 0x7f7fffff, 0, 0, 0x7f80},
    {"cvt.rn.bf16.u32 %h0, %r1", 'h', 3, 0, 0, 0x4040},
    {"mov.b32 %r0, %r1; cvt.f32.f16 %r0, %r0", 'r', 0x1234c000, 0, 0,
     0xc0000000},
    {"mov.b64 %rd0, %rd1; cvt.rn.f16.f64 %rd0, %rd0", 'd', 0x3ff8000000000000,
     0, 0, 0x3e00},
    {"cvt.f32.bf16 %f0, %h1", 'f', 0x4040, 0, 0, 0x40400000},
    {"cvt.rn.bf16.f16 %h0, %h1", 'h', 0x4200, 0, 0, 0x4040},
    {"cvt.rn.f16.bf16 %h0, %h1", 'h', 0x4040, 0, 0, 0x4200},
    {"cvt.rzi.s32.bf16 %r0, %h1", 'r', 0xc060, 0, 0, (uint32_t)-3},
    {"cvt.rn.f16x2.f32 %r0, %f1, %f2", 'r', 0x40400000, 0x3f800000, 0,
     0x42003c00},
    {"cvt.rn.relu.bf16x2.f32 %r0, %f1, %f2", 'r', 0x40400000, 0xbf800000, 0,
     0x40400000},
    {"cvt.sat.f32.f32 %f0, %f1", 'f', 0x40400000, 0, 0, 0x3f800000},
    {"cvt.rni.f32.f32 %f0, %f1", 'f', 0x40200000, 0, 0, 0x40000000},
};
/* clang-format on */

/* clang-format off */
static const struct arithmetic reals[] = {
    {"add.f32 %f0, %f1, %f2", 'f', 0x3f800000, 0x40000000, 0, 0x40400000},
    {"add.rz.f32 %f0, %f1, %f2", 'f', 0x4b800000, 0x3fc00000, 0, 0x4b800000},
    {"add.rp.f32 %f0, %f1, %f2", 'f', 0x4b800000, 0x3f800000, 0, 0x4b800001},
    {"sub.f32 %f0, %f1, %f2", 'f', 0x3f800000, 0x40000000, 0, 0xbf800000},
    {"sub.sat.f32 %f0, %f1, %f2", 'f', 0x3f800000, 0x40000000, 0, 0},
    {"mul.rn.ftz.f32 %f0, %f1, %f2", 'f', 0x40400000, 0x40000000, 0,
     0x40c00000},
    {"fma.rn.f32 %f0, %f1, %f2, %f3", 'f', 0x40400000, 0x40000000, 0x3f800000,
     0x40e00000},
    {"mad.rn.f32 %f0, %f1, %f2, %f3", 'f', 0x40400000, 0x40000000, 0x3f800000,
     0x40e00000},
    {"div.approx.f32 %f0, %f1, %f2", 'f', 0x40c00000, 0x40000000, 0,
     0x40400000},
    {"div.full.f32 %f0, %f1, %f2", 'f', 0x40c00000, 0x40000000, 0, 0x40400000},
    {"div.rn.f64 %d0, %d1, %d2", 'e', 0x4018000000000000, 0x4000000000000000,
     0, 0x4008000000000000},
    {"sqrt.rn.f32 %f0, %f1", 'f', 0x41100000, 0, 0, 0x40400000},
    {"sqrt.rn.f64 %d0, %d1", 'e', 0x4022000000000000, 0, 0, 0x4008000000000000},
    {"rcp.approx.f32 %f0, %f1", 'f', 0x40800000, 0, 0, 0x3e800000},
    {"rcp.rn.f64 %d0, %d1", 'e', 0x4010000000000000, 0, 0, 0x3fd0000000000000},
    {"rsqrt.approx.f32 %f0, %f1", 'f', 0x40800000, 0, 0, 0x3f000000},
    {"min.f32 %f0, %f1, %f2", 'f', 0x3f800000, 0xc0000000, 0, 0xc0000000},
    {"max.f32 %f0, %f1, %f2", 'f', 0x7fc00000, 0x40000000, 0, 0x40000000},
    {"neg.f32 %f0, %f1", 'f', 0x3f800000, 0, 0, 0xbf800000},
    {"abs.f64 %d0, %d1", 'e', 0xc008000000000000, 0, 0, 0x4008000000000000},
    {"sin.approx.f32 %f0, %f1", 'f', 0, 0, 0, 0},
    {"cos.approx.f32 %f0, %f1", 'f', 0, 0, 0, 0x3f800000},
    {"lg2.approx.f32 %f0, %f1", 'f', 0x41000000, 0, 0, 0x40400000},
    {"ex2.approx.f32 %f0, %f1", 'f', 0x40400000, 0, 0, 0x41000000},
    {"tanh.approx.f32 %f0, %f1", 'f', 0, 0, 0, 0},
    {"mov.f32 %f0, 1.5", 'f', 0, 0, 0, 0x3fc00000},
    {"mov.f64 %d0, 0d4008000000000000", 'e', 0, 0, 0, 0x4008000000000000},
    {"add.f32 %f0, %f1, -1.0", 'f', 0x40000000, 0, 0, 0x3f800000},
    {"setp.ne.f32 %p0, %f1, %f2", 'p', 0x7fc00000, 0, 0, 0},
    {"setp.neu.f32 %p0, %f1, %f2", 'p', 0x7fc00000, 0, 0, 1},
    {"setp.nan.f32 %p0, %f1, %f2", 'p', 0x7fc00000, 0, 0, 1},
    {"setp.gtu.f64 %p0, %d1, %d2", 'p', 0x7ff8000000000000, 0, 0, 1},
    {"add.f16 %h0, %h1, %h2", 'h', 0x3c00, 0x4000, 0, 0x4200},
    {"fma.rn.f16 %h0, %h1, %h2, %h3", 'h', 0x4200, 0x4000, 0x3c00, 0x4700},
    {"add.f16x2 %r0, %r1, %r2", 'r', 0x3c004000, 0x40004000, 0, 0x42004400},
    {"slct.f32.f32 %f0, %f1, %f2, %f3", 'f', 1, 2, 0xbf800000, 2},
    {"add.rz.sat.f32 %f0, %f1, %f2", 'f', 0x4b800000, 0x3fc00000, 0,
     0x3f800000},
    {"fma.rm.sat.f32 %f0, %f1, %f2, %f3", 'f', 0x3f800000, 0x3f000000,
     0x3e800000, 0x3f400000},
    {"mov.b32 %r0, %r1; fma.rn.f32 %r0, %r0, %r2, %r3", 'r', 0x40400000,
     0x40000000, 0x3f800000, 0x40e00000},
    {"copysign.f32 %f0, %f1, %f2", 'f', 0x80000000, 0x3f800000, 0,
     0xbf800000},
    {"copysign.f64 %d0, %d1, %d2", 'e', 0x3ff0000000000000,
     0xc000000000000000, 0, 0x4000000000000000},
    {"testp.finite.f32 %p0, %f1", 'p', 0x7f800000, 0, 0, 0},
    {"testp.infinite.f32 %p0, %f1", 'p', 0xff800000, 0, 0, 1},
    {"testp.number.f32 %p0, %f1", 'p', 0x7f800000, 0, 0, 1},
    {"testp.notanumber.f64 %p0, %d1", 'p', 0x7ff8000000000000, 0, 0, 1},
    {"testp.normal.f32 %p0, %f1", 'p', 1, 0, 0, 0},
    {"testp.subnormal.f64 %p0, %d1", 'p', 1, 0, 0, 1},
    {"add.rn.f16 %h0, %h1, %h2", 'h', 0x3c00, 0x4000, 0, 0x4200},
    {"add.sat.f16 %h0, %h1, %h2", 'h', 0x3c00, 0x4000, 0, 0x3c00},
    {"sub.rn.f16 %h0, %h1, %h2", 'h', 0x3c00, 0x4000, 0, 0xbc00},
    {"mul.ftz.f16 %h0, %h1, %h2", 'h', 0x4200, 0x4000, 0, 0x4600},
    {"fma.rn.relu.f16 %h0, %h1, %h2, %h3", 'h', 0xc200, 0x4000, 0x3c00, 0},
    {"fma.rn.sat.f16x2 %r0, %r1, %r2, %r3", 'r', 0x42003c00, 0x40003800,
     0x3c000000, 0x3c003800},
    {"fma.rn.relu.bf16x2 %r0, %r1, %r2, %r3", 'r', 0xc0404040, 0x40004000,
     0x3f803f80, 0x000040e0},
    {"sub.rn.f16x2 %r0, %r1, %r2", 'r', 0x42003c00, 0x40004000, 0,
     0x3c00bc00},
    {"mul.f16x2 %r0, %r1, %r2", 'r', 0x42003c00, 0x40004000, 0, 0x46004000},
    {"min.f16 %h0, %h1, %h2", 'h', 0xc000, 0x3c00, 0, 0xc000},
    {"max.f16x2 %r0, %r1, %r2", 'r', 0x3c004000, 0x4000bc00, 0, 0x40004000},
    {"neg.f16x2 %r0, %r1", 'r', 0x3c00c000, 0, 0, 0xbc004000},
    {"abs.f16 %h0, %h1", 'h', 0xc000, 0, 0, 0x4000},
    {"add.rn.bf16 %h0, %h1, %h2", 'h', 0x3f80, 0x4000, 0, 0x4040},
    {"sub.bf16 %h0, %h1, %h2", 'h', 0x3f80, 0x4000, 0, 0xbf80},
    {"mul.bf16x2 %r0, %r1, %r2", 'r', 0x40404040, 0x3f804000, 0, 0x404040c0},
    {"fma.rn.bf16 %h0, %h1, %h2, %h3", 'h', 0x4040, 0x4000, 0x3f80, 0x40e0},
    {"min.f32 %f0, %f1, %f2", 'f', 0x7fc00000, 0x3f800000, 0, 0x3f800000},
    {"max.NaN.f16 %h0, %h1, %h2", 'h', 0x7e00, 0x3c00, 0, 0x7fff},
    {"min.NaN.bf16x2 %r0, %r1, %r2", 'r', 0x7fc03f80, 0x3f804000, 0,
     0x7fff3f80},
    {"min.bf16x2 %r0, %r1, %r2", 'r', 0x3f80c000, 0x40003f80, 0, 0x3f80c000},
    {"max.bf16 %h0, %h1, %h2", 'h', 0xc000, 0x3f80, 0, 0x3f80},
    {"neg.bf16 %h0, %h1", 'h', 0x3f80, 0, 0, 0xbf80},
    {"abs.bf16x2 %r0, %r1", 'r', 0xbf80c000, 0, 0, 0x3f804000},
    {"ex2.approx.f16 %h0, %h1", 'h', 0x4200, 0, 0, 0x4800},
    {"ex2.approx.ftz.bf16x2 %r0, %r1", 'r', 0x40400000, 0, 0, 0x41003f80},
    {"tanh.approx.f16x2 %r0, %r1", 'r', 0x7c000000, 0, 0, 0x3c000000},
    {"tanh.approx.bf16 %h0, %h1", 'h', 0xff80, 0, 0, 0xbf80},
    {"setp.lt.bf16 %p0, %h1, %h2", 'p', 0x3f80, 0x4000, 0, 1},
    {"set.lt.f16.f16 %h0, %h1, %h2", 'h', 0x3c00, 0x4000, 0, 0x3c00},
};
/* clang-format on */

static const char load_sources[] =
    "ld.global.u16 %h1, [%in]; ld.global.u16 %h2, [%in+8];\n"
    "ld.global.u16 %h3, [%in+16];\n"
    "ld.global.u32 %r1, [%in]; ld.global.u32 %r2, [%in+8];\n"
    "ld.global.u32 %r3, [%in+16];\n"
    "ld.global.u64 %rd1, [%in]; ld.global.u64 %rd2, [%in+8];\n"
    "ld.global.u64 %rd3, [%in+16];\n"
    "ld.global.f32 %f1, [%in]; ld.global.f32 %f2, [%in+8];\n"
    "ld.global.f32 %f3, [%in+16];\n"
    "ld.global.f64 %d1, [%in]; ld.global.f64 %d2, [%in+8];\n"
    "ld.global.f64 %d3, [%in+16];\n"
    "setp.eq.u32 %p7, 0, 0; setp.ne.u32 %p6, 0, 0;\n";

static const char *store_result(char to)
{
    switch (to) {
    case 'h':
        return "st.global.u16 [%out], %h0;";
    case 'r':
        return "st.global.u32 [%out], %r0;";
    case 'd':
        return "st.global.u64 [%out], %rd0;";
    case 'f':
        return "st.global.f32 [%out], %f0;";
    case 'e':
        return "st.global.f64 [%out], %d0;";
    default:
        return "selp.u32 %r0, 1, 0, %p0;\nst.global.u32 [%out], %r0;";
    }
}

static void check_arithmetic(const struct arithmetic *row)
{
    struct rig rig = rig_open();
    char *const body =
        xasprintf("%s%s;\n%s", load_sources, row->text, store_result(row->to));
    rig_in(&rig, 0, row->a);
    rig_in(&rig, 1, row->b);
    rig_in(&rig, 2, row->c);
    rig_run(&rig, body);
    const uint64_t result = rig_out(&rig, 0);
    ck_assert_msg(result == row->result, "%s gives 0x%llx, not 0x%llx",
                  row->text, (unsigned long long)result,
                  (unsigned long long)row->result);
    free(body);
    rig_close(&rig);
}

START_TEST(integer_arithmetic)
{
    check_arithmetic(&integers[_i]);
}
END_TEST

START_TEST(conversion)
{
    check_arithmetic(&conversions[_i]);
}
END_TEST

START_TEST(real_arithmetic)
{
    check_arithmetic(&reals[_i]);
}
END_TEST

/* ---- warps ---- */

/* Each thread stores %r0 as the word of its %tid.x. */
#define STORE_BY_THREAD                                                        \
    "mov.u32 %r31, %tid.x; mul.wide.u32 %rd31, %r31, 8;\n"                     \
    "add.u64 %rd31, %rd31, %out; st.global.u32 [%rd31], %r0;\n"

START_TEST(branches_part_lanes_and_join_them)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r1, %laneid; setp.lt.u32 %p0, %r1, 8;\n"
            "@%p0 bra low;\nmov.u32 %r0, 200;\nbra.uni join;\n"
            "low: mov.u32 %r0, 100;\njoin: activemask.b32 %r2;\n"
            "popc.b32 %r2, %r2; add.u32 %r0, %r0, %r2;\n" STORE_BY_THREAD,
            .threads = 32);
    ck_assert_uint_eq(rig_out(&rig, 7), 132);
    ck_assert_uint_eq(rig_out(&rig, 8), 232);
    rig_close(&rig);
}
END_TEST

START_TEST(each_lane_leaves_a_loop_when_it_is_done)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r1, %tid.x; mov.u32 %r0, 0;\n"
            "loop: add.u32 %r0, %r0, 3; sub.u32 %r1, %r1, 1;\n"
            "setp.ge.s32 %p0, %r1, 0;\n@%p0 bra loop;\n" STORE_BY_THREAD,
            .threads = 40);
    for (uint64_t i = 0; i < 40; i++)
        ck_assert_uint_eq(rig_out(&rig, i), 3 * (i + 1));
    rig_close(&rig);
}
END_TEST

START_TEST(lanes_that_exit_leave_the_others_running)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1;\n"
            "setp.eq.u32 %p0, %r1, 0;\n@%p0 exit;\n" STORE_BY_THREAD,
            .threads = 8);
    ck_assert_uint_eq(rig_out(&rig, 6), 0);
    ck_assert_uint_eq(rig_out(&rig, 7), 7);
    rig_close(&rig);
}
END_TEST

START_TEST(a_guard_masks_lanes)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r1, %tid.x; setp.gt.u32 %p0, %r1, 3;\n"
            "mov.u32 %r0, 1;\n@%p0 mov.u32 %r0, 2;\n"
            "@!%p0 add.u32 %r0, %r0, 10;\n" STORE_BY_THREAD,
            .threads = 8);
    ck_assert_uint_eq(rig_out(&rig, 3), 11);
    ck_assert_uint_eq(rig_out(&rig, 4), 2);
    rig_close(&rig);
}
END_TEST

START_TEST(a_barrier_makes_what_others_stored_visible)
{
    struct rig rig = rig_open();
    rig_run(
        &rig,
        ".shared .b32 words[128];\n"
        "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, words;\n"
        "add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1;\nbar.sync 0;\n"
        "xor.b32 %r1, %r1, 127; shl.b32 %r2, %r1, 2;\n"
        "add.u32 %r2, %r2, %r3; ld.shared.u32 %r0, [%r2];\n" STORE_BY_THREAD,
        .threads = 128);
    ck_assert_uint_eq(rig_out(&rig, 0), 127);
    ck_assert_uint_eq(rig_out(&rig, 100), 27);
    rig_close(&rig);
}
END_TEST

START_TEST(warps_that_ended_count_as_arrived)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r0, %warpid; setp.eq.u32 %p0, %r0, 1;\n"
            "@%p0 exit;\nbar.sync 1;\nmov.u32 %r0, 5;\n" STORE_BY_THREAD,
            .threads = 96);
    ck_assert_uint_eq(rig_out(&rig, 95), 5);
    rig_close(&rig);
}
END_TEST

START_TEST(a_barrier_in_a_branch_waits_for_the_lanes_of_both_sides)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 5;\n"
            "@%p0 bra low;\nbar.sync 0;\nmov.u32 %r0, 2;\nbra join;\n"
            "low: bar.sync 0;\nmov.u32 %r0, 1;\njoin:\n" STORE_BY_THREAD,
            .threads = 64);
    ck_assert_uint_eq(rig_out(&rig, 4), 1);
    ck_assert_uint_eq(rig_out(&rig, 5), 2);
    rig_close(&rig);
}
END_TEST

START_TEST(shuffles_move_values_between_lanes)
{
    static const struct {
        const char *text;
        uint32_t lane, value;
    } cases[] = {
        {"shfl.sync.idx.b32 %r0, %r1, 5, 31, -1;",     20, 5 },
        {"shfl.sync.up.b32 %r0, %r1, 3, 0, -1;",       20, 17},
        {"shfl.sync.up.b32 %r0, %r1, 3, 0, -1;",       2,  2 },
        {"shfl.sync.down.b32 %r0, %r1, 3, 31, -1;",    20, 23},
        {"shfl.sync.down.b32 %r0, %r1, 3, 31, -1;",    30, 30},
        {"shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;",    20, 21},
 /* Segments of 8 lanes. */
        {"shfl.sync.idx.b32 %r0, %r1, 1, 0x181f, -1;", 20, 17},
        {"shfl.sync.down.b32 %r1|%p0, %r1, 3, 31, -1;\n"
         "selp.u32 %r0, 1, 0, %p0;",          30, 0 },
    };
    struct rig rig = rig_open();
    char *const body = xasprintf("mov.u32 %%r1, %%laneid;\n%s\n%s",
                                 cases[_i].text, STORE_BY_THREAD);
    rig_run(&rig, body, .threads = 32);
    ck_assert_uint_eq(rig_out(&rig, cases[_i].lane), cases[_i].value);
    free(body);
    rig_close(&rig);
}
END_TEST

START_TEST(votes_ask_all_lanes)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r1, %laneid; setp.lt.u32 %p0, %r1, 4;\n"
            "vote.sync.ballot.b32 %r2, %p0, -1;\n"
            "vote.sync.any.pred %p1, %p0, -1;\n"
            "vote.sync.all.pred %p2, !%p0, -1;\n"
            "selp.u32 %r3, 256, 0, %p1; selp.u32 %r4, 512, 0, %p2;\n"
            "add.u32 %r0, %r2, %r3; add.u32 %r0, %r0, %r4;\n" STORE_BY_THREAD,
            .threads = 32);
    ck_assert_uint_eq(rig_out(&rig, 9), 15 + 256);
    rig_close(&rig);
}
END_TEST

START_TEST(what_all_lanes_of_a_warp_find_together)
{
    static const struct {
        const char *text;
        uint32_t lane, value;
    } cases[] = {
        {"and.b32 %r2, %r1, 3; match.any.sync.b32 %r0, %r2, -1;",         5,
         0x22222222                                                                    },
        {"cvt.u64.u32 %rd2, %r1; match.any.sync.b64 %r0, %rd2, -1;",      5, 32        },
        {"mov.u32 %r2, 7; match.all.sync.b32 %r0|%p0, %r2, -1;",          5, UINT32_MAX},
        {"match.all.sync.b32 %r0|%p0, %r1, -1;",                          5, 0         },
        {"match.all.sync.b32 %r0|%p0, %r1, -1; selp.u32 %r0, 1, 2, %p0;", 5, 2         },
        {"redux.sync.add.u32 %r0, %r1, -1;",                              5, 31 * 16   },
        {"sub.u32 %r2, %r1, 5; redux.sync.min.s32 %r0, %r2, -1;",         9,
         (uint32_t)-5                                                                  },
        {"sub.u32 %r2, %r1, 5; redux.sync.max.u32 %r0, %r2, -1;",         9,
         UINT32_MAX                                                                    },
        {"redux.sync.or.b32 %r0, %r1, -1;",                               9, 31        },
        {"redux.sync.and.b32 %r0, %r1, -1;",                              9, 0         },
        {"redux.sync.xor.b32 %r0, %r1, -1;",                              9, 0         },
        {"elect.sync %r0|%p0, -1; selp.u32 %r2, 100, 0, %p0;"
         "add.u32 %r0, %r0, %r2;",                               0, 100       },
        {"mov.u32 %r0, 7; elect.sync _|%p0, -1; @%p0 mov.u32 %r0, 9;",    3, 7         },
        {"mov.u32 %r2, -1; bar.warp.sync %r2; mov.u32 %r0, 1;",           0, 1         },
    };
    struct rig rig = rig_open();
    char *const body = xasprintf("mov.u32 %%r1, %%laneid;\n%s\n%s",
                                 cases[_i].text, STORE_BY_THREAD);
    rig_run(&rig, body, .threads = 32);
    ck_assert_msg(rig_out(&rig, cases[_i].lane) == cases[_i].value,
                  "%s gives %llu", cases[_i].text,
                  (unsigned long long)rig_out(&rig, cases[_i].lane));
    free(body);
    rig_close(&rig);
}
END_TEST

START_TEST(a_barrier_may_reduce_predicates)
{
    static const struct {
        const char *text;
        uint32_t value;
    } cases[] = {
        {"bar.red.popc.u32 %r0, 0, %p0;",                          40},
        {"bar.red.popc.u32 %r0, 0, !%p0;",                         56},
        {"bar.red.popc.u32 %r0, 0, 96, %p0;",                      40},
        {"bar.red.and.pred %p1, 0, %p0; selp.u32 %r0, 1, 2, %p1;", 2 },
        {"bar.red.or.pred %p1, 0, %p0; selp.u32 %r0, 1, 2, %p1;",  1 },
    };
    struct rig rig = rig_open();
    char *const body =
        xasprintf("mov.u32 %%r1, %%tid.x; setp.lt.u32 %%p0, %%r1, 40;\n%s\n%s",
                  cases[_i].text, STORE_BY_THREAD);
    rig_run(&rig, body, .threads = 96);
    ck_assert_uint_eq(rig_out(&rig, 0), cases[_i].value);
    ck_assert_uint_eq(rig_out(&rig, 95), cases[_i].value);
    free(body);
    rig_close(&rig);
}
END_TEST

START_TEST(special_registers_tell_where_a_thread_is)
{
    static const struct {
        const char *name;
        uint32_t value;
    } cases[] = {
        {"%ctaid.x",           6 },
        {"%nctaid.x",          7 },
        {"%ntid.x",            64},
        {"%nsmid",             4 },
        {"%smid",              2 },
        {"%ntid.y",            1 },
        {"%lanemask_lt",       1 },
        {"%tid.x",             33},
        {"%laneid",            1 },
        {"%total_smem_size",   96},
        {"%dynamic_smem_size", 96},
    };
    struct rig rig = rig_open();
    char *const body =
        xasprintf("mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x;\n"
                  "setp.eq.u32 %%p0, %%r1, 33; setp.eq.and.u32 %%p0, %%r2, 6, "
                  "%%p0;\nmov.u32 %%r0, %s;\n@%%p0 st.global.u32 [%%out], "
                  "%%r0;",
                  cases[_i].name);
    rig_run(&rig, body, .threads = 64, .blocks = 7, .shared = 96);
    ck_assert_uint_eq(rig_out(&rig, 0), cases[_i].value);
    free(body);
    rig_close(&rig);
}
END_TEST

/* ---- memory ---- */

START_TEST(vectors_are_loaded_and_stored)
{
    struct rig rig = rig_open();
    rig_in(&rig, 0, 0x200000001);
    rig_in(&rig, 1, 0x400000003);
    rig_run(&rig, "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];\n"
                  "st.global.v2.u32 [%out], {%r4, %r1};\n"
                  "ld.global.v2.u64 {%rd1, %rd2}, [%in];\n"
                  "st.global.v2.u64 [%out+16], {%rd2, %rd1};");
    ck_assert_uint_eq(rig_out(&rig, 0), 0x100000004);
    ck_assert_uint_eq(rig_out(&rig, 2), 0x400000003);
    ck_assert_uint_eq(rig_out(&rig, 3), 0x200000001);
    rig_close(&rig);
}
END_TEST

START_TEST(narrow_loads_extend_as_their_type_says)
{
    struct rig rig = rig_open();
    rig_in(&rig, 0, 0x80);
    rig_run(&rig, "ld.global.s8 %r0, [%in]; ld.global.u8 %r1, [%in];\n"
                  "ld.global.s8 %rd0, [%in];\n"
                  "st.global.u32 [%out], %r0; st.global.u32 [%out+8], %r1;\n"
                  "st.global.u64 [%out+16], %rd0;");
    ck_assert_uint_eq(rig_out(&rig, 0), 0xffffff80);
    ck_assert_uint_eq(rig_out(&rig, 1), 0x80);
    ck_assert_uint_eq(rig_out(&rig, 2), (uint64_t)-128);
    rig_close(&rig);
}
END_TEST

START_TEST(generic_addresses_reach_every_space)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            ".shared .b64 mine; .local .b64 own;\n"
            "mov.u64 %rd1, mine; cvta.shared.u64 %rd2, %rd1;\n"
            "mov.u64 %rd3, 7; st.u64 [%rd2], %rd3;\n"
            "ld.shared.u64 %rd4, [mine]; st.u64 [%out], %rd4;\n"
            "mov.u64 %rd1, own; cvta.local.u64 %rd2, %rd1;\n"
            "mov.u64 %rd3, 8; st.u64 [%rd2], %rd3;\n"
            "cvta.to.local.u64 %rd2, %rd2; ld.local.u64 %rd4, [%rd2];\n"
            "st.u64 [%out+8], %rd4;\n"
            "mov.u64 %rd1, word; cvta.global.u64 %rd1, %rd1;\n"
            "ld.u32 %r1, [%rd1+4]; st.u32 [%out+16], %r1;\n"
            "mov.u64 %rd1, fixed; cvta.const.u64 %rd1, %rd1;\n"
            "ld.u32 %r1, [%rd1+4]; st.u32 [%out+24], %r1;",
            .variables = ".global .u32 word[2] = {1, 9};\n"
                         ".const .u32 fixed[2] = {2, 10};\n");
    ck_assert_uint_eq(rig_out(&rig, 0), 7);
    ck_assert_uint_eq(rig_out(&rig, 1), 8);
    ck_assert_uint_eq(rig_out(&rig, 2), 9);
    ck_assert_uint_eq(rig_out(&rig, 3), 10);
    rig_close(&rig);
}
END_TEST

START_TEST(dynamic_shared_memory_follows_the_static)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            ".shared .b32 fixed;\nmov.u32 %r1, fixed; mov.u32 %r2, rest;\n"
            "st.shared.u32 [rest+60], %r2; ld.shared.u32 %r0, [%r2+60];\n"
            "sub.u32 %r0, %r0, %r1; st.global.u32 [%out], %r0;",
            .variables = ".extern .shared .align 16 .b8 rest[];", .shared = 64);
    ck_assert_uint_eq(rig_out(&rig, 0), 16);
    rig_close(&rig);
}
END_TEST

START_TEST(local_memory_belongs_to_a_thread)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            ".local .u32 mine[2];\nmov.u32 %r1, %tid.x;\n"
            "st.local.u32 [mine+4], %r1;\nbar.sync 0;\n"
            "ld.local.u32 %r0, [mine+4];\n" STORE_BY_THREAD,
            .threads = 64);
    ck_assert_uint_eq(rig_out(&rig, 63), 63);
    rig_close(&rig);
}
END_TEST

START_TEST(module_variables_have_their_initial_values)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "ld.const.u32 %r0, [c+8]; st.global.u32 [%out], %r0;\n"
            "ld.global.f32 %f0, [g+4]; st.global.f32 [%out+8], %f0;\n"
            "ld.global.u16 %r0, [g3]; st.global.u32 [%out+16], %r0;",
            .variables = ".const .align 4 .u32 c[3] = {1, 2, 3};\n"
                         ".global .f32 g[2] = {1.0, 0f40000000};\n"
                         ".global .u32 g2; .global .u16 g3[2][2] = {{5, 6}};");
    ck_assert_uint_eq(rig_out(&rig, 0), 3);
    ck_assert_uint_eq(rig_out(&rig, 1), 0x40000000);
    ck_assert_uint_eq(rig_out(&rig, 2), 5);
    rig_close(&rig);
}
END_TEST

/* As in a GPU's bank of constants: a 32-bit offset reaches them all. */
START_TEST(constants_are_addressed_from_the_start_of_their_module)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            "mov.u32 %r1, c; st.global.u32 [%out], %r1;\n"
            "ld.const.u32 %r0, [%r1+8]; st.global.u32 [%out+8], %r0;",
            .variables = ".const .align 4 .u32 c[3] = {1, 2, 3};\n");
    ck_assert_uint_eq(rig_out(&rig, 0), 0);
    ck_assert_uint_eq(rig_out(&rig, 1), 3);
    rig_close(&rig);
}
END_TEST

START_TEST(atomics_return_the_old_value_and_store_the_new)
{
    static const struct {
        const char *text;
        uint64_t before, old, after;
    } cases[] = {
        {"atom.global.add.u32 %r0, [%rd1], 5",                    7,          7,          12        },
        {"atom.global.exch.b32 %r0, [%rd1], 5",                   7,          7,          5         },
        {"atom.global.cas.b32 %r0, [%rd1], 7, 5",                 7,          7,          5         },
        {"atom.global.cas.b32 %r0, [%rd1], 6, 5",                 7,          7,          7         },
        {"atom.global.min.s32 %r0, [%rd1], -1",                   7,          7,          0xffffffff},
        {"atom.global.min.u32 %r0, [%rd1], -1",                   7,          7,          7         },
        {"atom.global.max.u32 %r0, [%rd1], 9",                    7,          7,          9         },
        {"atom.global.and.b32 %r0, [%rd1], 5",                    7,          7,          5         },
        {"atom.global.or.b32 %r0, [%rd1], 8",                     7,          7,          15        },
        {"atom.global.xor.b32 %r0, [%rd1], 1",                    7,          7,          6         },
        {"atom.global.inc.u32 %r0, [%rd1], 7",                    7,          7,          0         },
        {"atom.global.dec.u32 %r0, [%rd1], 9",                    0,          0,          9         },
        {"atom.relaxed.gpu.global.add.u32 %r0, [%rd1], 1",        1,          1,          2         },
        {"mov.b32 %r2, 0x3c003c00; "
         "atom.global.add.noftz.f16x2 %r0, [%rd1], %r2", 0x40003c00, 0x40003c00, 0x42004000},
        {"red.global.add.u32 [%rd1], 3",                          7,          0,          10        },
    };
    struct rig rig = rig_open();
    char *const body =
        xasprintf("mov.u32 %%r0, 0; add.u64 %%rd1, %%out, 8;\n"
                  "mov.u32 %%r1, %llu; st.global.u32 [%%rd1], %%r1;\n%s;\n"
                  "st.global.u32 [%%out], %%r0;",
                  (unsigned long long)cases[_i].before, cases[_i].text);
    rig_run(&rig, body);
    ck_assert_uint_eq(rig_out(&rig, 0), cases[_i].old);
    ck_assert_uint_eq(rig_out(&rig, 1), cases[_i].after);
    free(body);
    rig_close(&rig);
}
END_TEST

START_TEST(atomics_of_many_blocks_add_up)
{
    struct rig rig = rig_open();
    rig_run(&rig, "atom.global.add.u64 %rd1, [%out], 1;", .threads = 100,
            .blocks = 50);
    ck_assert_uint_eq(rig_out(&rig, 0), 5000);
    rig_close(&rig);
}
END_TEST

START_TEST(atomics_work_in_shared_memory)
{
    struct rig rig = rig_open();
    rig_run(&rig,
            ".shared .u32 sum;\natom.shared.add.u32 %r1, [sum], 2;\n"
            "bar.sync 0;\nld.shared.u32 %r0, [sum];\n" STORE_BY_THREAD,
            .threads = 64);
    ck_assert_uint_eq(rig_out(&rig, 63), 128);
    rig_close(&rig);
}
END_TEST

START_TEST(textures_are_read_by_their_index)
{
    struct rig rig = rig_open();
    struct texture texture;
    rig_in(&rig, 1, 0x600000005);
    ASSERT_DONE(device_texture_open(rig.device, rig.in, 16, &texture, &rig.err),
                rig.err);
    /* The handle travels in a word of the input. */
    rig_in(&rig, 8, texture.object);
    rig_run(&rig, "ld.global.u64 %rd1, [%in+64]; mov.u32 %r1, 3;\n"
                  "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];\n"
                  "st.global.u32 [%out], %r2;\nmov.u32 %r1, 4;\n"
                  "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, %r1];\n"
                  "st.global.u32 [%out+8], %r2;");
    ck_assert_uint_eq(rig_out(&rig, 0), 6);
    ck_assert_uint_eq(rig_out(&rig, 1), 0);
    device_texture_close(rig.device, &texture);
    ASSERT_FAILS(rig_try(&rig, "ld.global.u64 %rd1, [%in+64];\n"
                               "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, "
                               "[%rd1, {%r1}];"),
                 ERR_DEVICE, rig.err, "texture object");
    rig_close(&rig);
}
END_TEST

START_TEST(symbols_can_be_written_from_the_host)
{
    struct rig rig = rig_open();
    struct module *module;
    uint64_t address;
    size_t bytes;
    const struct source source = {
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".const .u32 c[4];\n.visible .entry k() { ret; }\n",
        3};
    ASSERT_DONE(device_load(rig.device, &source, &module, &rig.err), rig.err);
    ASSERT_DONE(
        device_symbol(rig.device, module, "c", &address, &bytes, &rig.err),
        rig.err);
    ck_assert_uint_eq(bytes, 16);
    ck_assert_int_eq(
        device_copy_in(rig.device, address, "0123456789abcdef", 16, &rig.err),
        0);
    ASSERT_FAILS(
        device_symbol(rig.device, module, "x", &address, &bytes, &rig.err),
        ERR_USAGE, rig.err, "'x'");
    device_unload(rig.device, module);
    rig_close(&rig);
}
END_TEST

START_TEST(large_allocations_are_aligned_to_their_size)
{
    struct rig rig = rig_open();
    uint64_t address, again;
    ASSERT_DONE(device_allocate(rig.device, 100 << 20, &address, &rig.err),
                rig.err);
    ck_assert_uint_eq(address % (128 << 20), 0);
    device_release(rig.device, address);
    ASSERT_DONE(device_allocate(rig.device, 100 << 20, &again, &rig.err),
                rig.err);
    ck_assert_uint_eq(again, address);
    rig_close(&rig);
}
END_TEST

START_TEST(memory_that_is_not_there_is_refused)
{
    struct rig rig = rig_open();
    uint64_t address, before, after;
    ASSERT_DONE(device_memory_free(rig.device, &before, &rig.err), rig.err);
    ASSERT_FAILS(device_allocate(rig.device, before + 1, &address, &rig.err),
                 ERR_DEVICE_MEMORY, rig.err, "do not fit");
    ASSERT_DONE(device_allocate(rig.device, before, &address, &rig.err),
                rig.err);
    ASSERT_DONE(device_memory_free(rig.device, &after, &rig.err), rig.err);
    ck_assert_uint_eq(after, 0);
    rig_close(&rig);
}
END_TEST

/* ---- what is refused ---- */

/* clang-format off */
static const struct {
    const char *body, *words;
    int line; /* of the body, from 0 */
} refused[] = {
    {"mov.u32 %r0, 1;\nfrob.u32 %r0, %r1;", "'frob", 1},
    {"adds.u32 %r0, %r1, %r2;", "did you mean 'add'", 0},
    {"add.u32 %r0, %r1, %r99;", "'%r99' is not declared", 0},
    {"\n\nadd.u32 %x, %r1, %r2;", "'%x' is not declared", 2},
    {"add.u32 %r0, %r1, %rd2;", "'%rd2' is a .b64 register", 0},
    {"add.f32 %f0, %f1, %d2;", "'%d2' is a .f64 register", 0},
    {"add.u32 %f0, %r1, %r2;", "'%f0' is a .f32 register", 0},
    {"add.u64 %rd0, %rd1, %r2;", "'%r2' is a .b32 register", 0},
    {"add.b32 %r0, %r1, %r2;", "does not take these types", 0},
    {"add.u32 %r0, %r1;", "','", 0},
    {"add.u32 %r0, %r1, %r2, %r3;", "';'", 0},
    {"add.u32 %r0, %r1, %r2", "';'", 1},
    {"add.sat.u32 %r0, %r1, %r2;", "does not take these types", 0},
    {"add.wide.u32 %rd0, %r1, %r2;", "'.wide'", 0},
    {"mul.u32 %r0, %r1, %r2;", "needs .lo, .hi or .wide", 0},
    {"fma.f32 %f0, %f1, %f2, %f3;", "needs a rounding", 0},
    {"add.f32 %f0, %f1, 1;", "not a floating-point number", 0},
    {"add.u32 %r0, %r1, 1.0;", "not a number", 0},
    {"cvt.f32.u32 %f0, %r1;", "needs a rounding", 0},
    {"cvt.rn.s32.f32 %r0, %f1;", "needs .rni", 0},
    {"bra nowhere;", "no label 'nowhere'", 0},
    {"here: here: ret;", "twice", 0},
    {"@%r0 bra here;\nhere:", "'%r0' is no declared predicate", 0},
    {".reg .b32 %r5x; .reg .b32 %r5x;", "second time", 0},
    {"ld.global.u64 %r0, [%in];", "'%r0' is a .b32 register", 0},
    {"ld.global.v4.u64 {%rd0, %rd1, %rd2, %rd3}, [%in];", "16 bytes", 0},
    {"ld.global.v2.u32 {%r0, %r1, %r2}, [%in];", "3 elements", 0},
    {"ld.global.u32 %r0, [%f0];", "no address", 0},
    {"ld.global.L2::cache_hint.u32 %r0, [%in];", "lacks a cache policy", 0},
    {"ld.global.u32 %r0, [%in], %rd1;", "takes no cache policy", 0},
    {"st.global.v2.u32 [%in], {%r0, %r1}, %rd1;", "takes no cache policy", 0},
    {"createpolicy.b64 %rd0;", "needs a cache level", 0},
    {"ld.global.u32 %r0, [in];", "is .param, not .global", 0},
    {"st.const.u32 [%in], %r0;", "cannot be written", 0},
    {"mov.u32 %r0, %clock64;", "64 bits", 0},
    {"add.u32 %r0, %clock, 1;", "only be read by mov", 0},
    {"atom.global.cas.b32 %r0, [%in], %r1;", "takes 2 values", 0},
    {"bar.sync 16;", "no barrier 16", 0},
    {"setp.hi.s32 %p0, %r1, %r2;", "does not take these types", 0},
    {"add.cc.f32 %f0, %f1, %f2;", "does not take these types", 0},
    {"mad.wide.cc.u32 %rd0, %r1, %r2, %rd3;", "does not take these types", 0},
    {"add.rz.f16 %h0, %h1, %h2;", "does not take these types", 0},
    {"add.rn.u32 %r0, %r1, %r2;", "does not take these types", 0},
    {"add.sat.f64 %d0, %d1, %d2;", "does not take these types", 0},
    {"fma.rn.relu.f32 %f0, %f1, %f2, %f3;", "does not take these types", 0},
    {"add.f16x2 %f0, %f1, %f2;", "'%f0' is a .f32 register", 0},
    {"slct.u32.u32 %r0, %r1, %r2, %r3;", "does not take these types", 0},
    {"cvt.f16x2.f32 %r0, %f1, %f2;", "needs a rounding", 0},
    {"cvt.rn.f16x2.f32 %r0, %f1;", "does not take these types", 0},
    {"cvt.rn.f16.f32 %h0, %f1, %f2;", "does not take these types", 0},
    {"cvt.rn.f32.f16 %f0, %h1;", "rounds nothing", 0},
    {"add.ftz.f64 %d0, %d1, %d2;", "does not take these types", 0},
    {"add.f16 %h0, %h1, 1.0;", "a .f16 register is wanted", 0},
    {"set.lt.f32.f16 %f0, %h1, %h2;", "does not take these types", 0},
    {"nanosleep 5;", "lacks its type", 0},
    {"redux.sync.add.b32 %r0, %r1, -1;", "does not take these types", 0},
    {"match.any.sync.b32 %r0|%p0, %r1, -1;", "no predicate", 0},
    {"match.uni.sync.b32 %r0, %r1, -1;", ".any or .all", 0},
    {"testp.f32 %p0, %f1;", "needs a property", 0},
    {"bar.red.popc.pred %p0, 0, %p1;", "does not take these types", 0},
    {"{ .reg .b32 %inner; }\nmov.u32 %inner, 1;", "'%inner'", 1},
    {".frobnicate;", "'.frobnicate'", 0},
};
/* clang-format on */

START_TEST(what_an_assembler_refuses_is_refused_with_its_line)
{
    struct rig rig = rig_open();
    char *const line = xasprintf("line %d:", RIG_LINE + refused[_i].line);
    ck_assert_msg(rig_try(&rig, refused[_i].body) == ERR_PTX, "taken: %s (%s)",
                  refused[_i].body, rig.err.text);
    ck_assert_msg(strstr(rig.err.text, refused[_i].words) != NULL &&
                      strstr(rig.err.text, line) != NULL,
                  "%s: \"%s\"", refused[_i].body, rig.err.text);
    free(line);
    rig_close(&rig);
}
END_TEST

static int load_text(struct rig *rig, const char *ptx)
{
    struct module *module;
    const int code =
        device_load(rig->device, &(struct source){ptx, 3}, &module, &rig->err);
    if (code == 0)
        device_unload(rig->device, module);
    return code;
}

START_TEST(what_is_no_module_is_refused)
{
    /* clang-format off */
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", ".version"},
        {".target sm_90", ".version"},
        {".version 7.0\n.entry k() { ret; }", ".target"},
        {".version 7.0\n.target sm_99", "line 2: the program is for sm_99"},
        {".version 7.0\n.target sm_80\n.address_size 32", "64 bits"},
        {".version 7.0\n.target sm_80\n.func f() { trap; ret; }",
         "line 3: functions only compute"},
        {".version 7.0\n.target sm_80\n.entry k() { ret;", "text ends"},
        {".version 7.0\n.target sm_80\n.entry k(.param .u64 a { ret; }", "')'"},
        {".version 7.0\n.target sm_80\n.const .u32 c[16385];", "65536"},
        {".version 7.0\n.target sm_80\n.global .u32 g[1] = {1, 2};",
         "2 values for 1 places"},
        {".version 7.0\n.target sm_80\n.shared .u32 s = 1;",
         "no initial value"},
        {".version 7.0\n.target sm_80\n.global .align 3 .u32 g;",
         "power of two"},
    };
    /* clang-format on */
    struct rig rig = rig_open();
    ASSERT_FAILS(load_text(&rig, cases[_i].text), ERR_PTX, rig.err,
                 cases[_i].words);
    rig_close(&rig);
}
END_TEST

START_TEST(blocks_hide_names_and_labels)
{
    struct rig rig = rig_open();
    rig_run(&rig, "mov.u32 %r0, 0;\n"
                  "{ .reg .b32 %r0; mov.u32 %r0, 5; bra over; over: }\n"
                  "{ bra over; add.u32 %r0, %r0, 1; over: bra end; }\n"
                  "add.u32 %r0, %r0, 2;\nend: st.global.u32 [%out], %r0;");
    ck_assert_uint_eq(rig_out(&rig, 0), 0);
    rig_close(&rig);
}
END_TEST

#define FUNCTION(name, by)                                                     \
    ".func (.param .b32 out) " name "(.param .b32 in)\n{ .reg .b32 %a;\n"      \
    "ld.param.b32 %a, [in]; add.u32 %a, %a, " by "; st.param.b32 [out], %a;\n" \
    "ret; }\n"
#define TABLE                                                                  \
    FUNCTION("f", "1") FUNCTION("g", "10")                                     \
    ".global .u64 table[2] = {g, f};\n"
/* What register 1 says more than the table's word; register 2 is passed. */
#define CALL                                                                   \
    "mov.u64 %rd1, table; ld.global.u64 %rd2, [%rd1];\n"                       \
    "cvt.u64.u32 %rd3, %r1; add.u64 %rd2, %rd2, %rd3;\n"                       \
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;\n"                 \
    "p: .callprototype (.param .b32 _) _ (.param .b32 _);\n"                   \
    "call (b), %rd2, (a), p; ld.param.b32 %r3, [b]; }\n"                       \
    "st.global.u32 [%out], %r3;"

/* Functions are two instructions of 16 B each; past the first nothing is left
 * to compute. */
START_TEST(functions_are_called_by_their_addresses)
{
    static const struct {
        const char *more;
        uint64_t result;
    } cases[] = {{"mov.u32 %r1, 0;", 15},
                 {"mov.u32 %r1, 16;", 5},
                 {"mov.u32 %r1, 64;", 0}};
    struct rig rig = rig_open();
    char *const body = xasprintf("%s mov.u32 %%r2, 5;\n%s", cases[_i].more, CALL);
    const int code = rig_try(&rig, body, .variables = TABLE);
    if (cases[_i].result > 0)
        ck_assert_uint_eq(rig_out(&rig, 0), cases[_i].result);
    else
        ASSERT_FAILS(code, ERR_DEVICE, rig.err, "there is no such function");
    free(body);
    rig_close(&rig);
}
END_TEST

START_TEST(a_path_that_the_gpu_lacks_is_unsupported)
{
    struct rig rig = rig_open_with("paths/readonly=", 0);
    ASSERT_FAILS(rig_try(&rig, "ld.global.nc.u32 %r0, [%in];"), ERR_UNSUPPORTED,
                 rig.err, "'readonly'");
    rig_close(&rig);
}
END_TEST

START_TEST(a_bad_access_names_line_and_address)
{
    /* clang-format off */
    static const struct {
        const char *body, *words;
    } cases[] = {
        {"\nld.global.u64 %rd0, [%out+65536];", "line 15: 8 bytes at .global"},
        {"ld.global.u64 %rd0, [%out+65536];", "outside"},
        {"ld.global.u64 %rd0, [%out+65532];", "outside"},
        {"ld.global.u32 %r0, [%out+2];", "misaligned"},
        {"st.global.v2.u32 [%out+4], {%r0, %r1};", "misaligned"},
        {"ld.global.u32 %r0, [16];", "0x10 are outside"},
        {"ld.shared.u32 %r0, [4096];", ".shared address 0x1000"},
        {"st.global.u32 [%rd0], %r0;", "outside"},
    };
    /* clang-format on */
    struct rig rig = rig_open();
    ASSERT_FAILS(rig_try(&rig, cases[_i].body), ERR_DEVICE, rig.err,
                 cases[_i].words);
    ck_assert_ptr_nonnull(strstr(rig.err.text, "kernel 'k'"));
    rig_close(&rig);
}
END_TEST

START_TEST(launches_that_do_not_fit_are_refused)
{
    static const struct {
        struct rig_run run;
        const char *words;
    } cases[] = {
        {{.body = "", .threads = 257},                    "257 threads"  },
        {{.body = "", .shared = 4097},                    "shared memory"},
        {{.body = ".shared .b8 x[4000];", .shared = 200}, "shared memory"},
    };
    struct rig rig = rig_open();
    ASSERT_FAILS(rig_try_with(&rig, &cases[_i].run), ERR_USAGE, rig.err,
                 cases[_i].words);
    rig_close(&rig);
}
END_TEST

START_TEST(limits_of_the_kernel_hold)
{
    struct rig rig = rig_open();
    struct module *module;
    struct kernel *kernel;
    const struct source source = {
        ".version 7.0\n.target sm_80\n"
        ".visible .entry k(.param .u32 a) .maxntid 32, 1, 1 { ret; }\n",
        3};
    const uint32_t a = 0;
    struct launch launch = {.block = {64}, .args = {&a}, .arg_count = 1};
    ASSERT_DONE(device_load(rig.device, &source, &module, &rig.err), rig.err);
    ASSERT_DONE(device_kernel(rig.device, module, "k", &kernel, &rig.err),
                rig.err);
    ASSERT_FAILS(device_launch(rig.device, kernel, &launch, &rig.err),
                 ERR_USAGE, rig.err, ".maxntid");
    launch.block[0] = 32;
    launch.arg_count = 0;
    ASSERT_FAILS(device_launch(rig.device, kernel, &launch, &rig.err),
                 ERR_USAGE, rig.err, "0 arguments");
    ASSERT_FAILS(device_kernel(rig.device, module, "q", &kernel, &rig.err),
                 ERR_USAGE, rig.err, "'q'");
    device_unload(rig.device, module);
    rig_close(&rig);
}
END_TEST

START_TEST(an_endless_loop_ends_at_its_deadline)
{
    struct rig rig = rig_open();
    ASSERT_FAILS(rig_try(&rig, "loop: bra loop;", .deadline_s = 0.2),
                 ERR_DEADLINE, rig.err, "kernel 'k'");
    rig_close(&rig);
}
END_TEST

START_TEST(a_barrier_that_not_all_reach_does_not_hang)
{
    struct rig rig = rig_open();
    ASSERT_FAILS(rig_try(&rig,
                         "mov.u32 %r0, %warpid; setp.eq.u32 %p0, %r0, 0;\n"
                         "@%p0 bra one;\nbar.sync 2;\nret;\n"
                         "one: bar.sync 1;",
                         .threads = 64),
                 ERR_DEADLINE, rig.err, "barriers");
    rig_close(&rig);
}
END_TEST

START_TEST(a_wish_to_stop_ends_a_kernel)
{
    struct rig rig = rig_open();
    rig.device->ticket = stop_ticket();
    stop_request();
    ASSERT_FAILS(rig_try(&rig, "loop: bra loop;"), ERR_INTERRUPTED, rig.err,
                 "stopped");
    rig.device->ticket = stop_ticket();
    rig_run(&rig, "mov.u32 %r0, 1; st.global.u32 [%out], %r0;");
    ck_assert_uint_eq(rig_out(&rig, 0), 1);
    rig_close(&rig);
}
END_TEST

/* Buggy result: a launch that took a host 20 s longer than the budget was. */
START_TEST(a_kernel_ends_when_nobody_waits_any_more)
{
    struct rig rig = rig_open();
    rig.device->until = now_seconds();
    ASSERT_FAILS(rig_try(&rig, "loop: bra loop;"), ERR_INTERRUPTED, rig.err,
                 "stopped");
    rig.device->until = 0;
    rig_run(&rig, "mov.u32 %r0, 1; st.global.u32 [%out], %r0;");
    ck_assert_uint_eq(rig_out(&rig, 0), 1);
    rig_close(&rig);
}
END_TEST

/* Lane 4 g + t brings rows g and g + 8 of A, all of g + 1 and g + 9 in the
 * first half of k and zeros in the second, and column g of B, all of g + 1 in
 * the first half: 16 products of each pair. */
static const char product[] =
    "mov.u32 %r0, %laneid; shr.u32 %r1, %r0, 2; add.u32 %r1, %r1, 1;\n"
    "mul.lo.u32 %r4, %r1, 0x01010101; add.u32 %r5, %r4, 0x08080808;\n"
    "mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r8, %r4;\n"
    "mov.u32 %r9, 0x07070707;\n"
    "mov.u32 %r10, 1; mov.u32 %r11, 2; mov.u32 %r12, 3; mov.u32 %r13, 4;\n"
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
    " {%r20, %r21, %r22, %r23}, {%r4, %r5, %r6, %r7}, {%r8, %r9},"
    " {%r10, %r11, %r12, %r13};\n"
    "mul.wide.u32 %rd0, %r0, 32; add.u64 %rd0, %rd0, %out;\n"
    "st.global.u32 [%rd0], %r20; st.global.u32 [%rd0+8], %r21;\n"
    "st.global.u32 [%rd0+16], %r22; st.global.u32 [%rd0+24], %r23;\n";

START_TEST(a_product_is_where_the_manual_says)
{
    struct rig rig = rig_open();
    rig_run(&rig, product, .threads = 32);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < 4; i++) {
            const unsigned row = lane / 4 + 8 * (i / 2);
            const unsigned column = 2 * (lane % 4) + i % 2;
            ck_assert_uint_eq(rig_out(&rig, 4 * lane + i),
                              16 * (row + 1) * (column + 1) + i + 1);
        }
    rig_close(&rig);
}
END_TEST

START_TEST(a_product_of_other_types_is_refused)
{
    struct rig rig = rig_open();
    ck_assert_int_eq(
        rig_try(&rig, "mma.sync.aligned.m16n8k32.row.col.s32.f16.f16.s32"
                      " {%r20, %r21, %r22, %r23}, {%r4, %r5, %r6, %r7},"
                      " {%r8, %r9}, {%r10, %r11, %r12, %r13};"),
        ERR_PTX);
    ck_assert_int_eq(rig_try(&rig, product, .threads = 16), ERR_DEVICE);
    rig_close(&rig);
}
END_TEST

START_TEST(a_trap_is_an_error)
{
    struct rig rig = rig_open();
    ASSERT_FAILS(rig_try(&rig, "trap;"), ERR_DEVICE, rig.err, "trap");
    rig_close(&rig);
}
END_TEST

START_TEST(the_device_tells_what_its_profile_says)
{
    struct rig rig = rig_open();
    struct device_sense sense;
    ck_assert_str_eq(rig.device->info.spec, "sim:rig");
    ck_assert(rig.device->info.simulated);
    ck_assert_int_eq(rig.device->info.value[PROPERTY_SMS], 4);
    ck_assert_int_eq(rig.device->info.value[PROPERTY_BLOCK_THREADS], 256);
    ASSERT_DONE(device_sense(rig.device, &sense, &rig.err), rig.err);
    ck_assert_double_eq(sense.sm_mhz, 1000);
    ck_assert_double_lt(sense.power_w, 0);
    ck_assert_uint_eq(sense.throttle, 0);
    rig_close(&rig);
}
END_TEST

START_TEST(it_has_no_machine_code_to_show)
{
    struct rig rig = rig_open();
    const void *data;
    size_t length;
    ck_assert_int_eq(device_code(rig.device, NULL, &data, &length, &rig.err),
                     ERR_UNSUPPORTED);
    rig_close(&rig);
}
END_TEST

#define LOOP(t, test, table)                                                   \
    tcase_add_loop_test(t, test, 0, (int)COUNT_OF(table))

static void add_refusals(TCase *t)
{
    LOOP(t, what_an_assembler_refuses_is_refused_with_its_line, refused);
    tcase_add_loop_test(t, what_is_no_module_is_refused, 0, 12);
    tcase_add_test(t, a_path_that_the_gpu_lacks_is_unsupported);
    tcase_add_loop_test(t, a_bad_access_names_line_and_address, 0, 8);
    tcase_add_loop_test(t, launches_that_do_not_fit_are_refused, 0, 3);
    tcase_add_test(t, limits_of_the_kernel_hold);
    tcase_add_test(t, an_endless_loop_ends_at_its_deadline);
    tcase_add_test(t, a_barrier_that_not_all_reach_does_not_hang);
    tcase_add_test(t, a_wish_to_stop_ends_a_kernel);
    tcase_add_test(t, a_kernel_ends_when_nobody_waits_any_more);
    tcase_add_test(t, a_trap_is_an_error);
}

static void add_memory(TCase *t)
{
    tcase_add_test(t, vectors_are_loaded_and_stored);
    tcase_add_test(t, narrow_loads_extend_as_their_type_says);
    tcase_add_test(t, generic_addresses_reach_every_space);
    tcase_add_test(t, dynamic_shared_memory_follows_the_static);
    tcase_add_test(t, local_memory_belongs_to_a_thread);
    tcase_add_test(t, module_variables_have_their_initial_values);
    tcase_add_test(t, constants_are_addressed_from_the_start_of_their_module);
    tcase_add_loop_test(t, atomics_return_the_old_value_and_store_the_new, 0,
                        15);
    tcase_add_test(t, atomics_of_many_blocks_add_up);
    tcase_add_test(t, atomics_work_in_shared_memory);
    tcase_add_test(t, textures_are_read_by_their_index);
    tcase_add_test(t, symbols_can_be_written_from_the_host);
    tcase_add_test(t, large_allocations_are_aligned_to_their_size);
    tcase_add_test(t, memory_that_is_not_there_is_refused);
}

Suite *suite_sim(void)
{
    TCase *t;
    Suite *const suite = suite_of("sim", 20, &t);
    LOOP(t, integer_arithmetic, integers);
    LOOP(t, conversion, conversions);
    LOOP(t, real_arithmetic, reals);
    tcase_add_test(t, branches_part_lanes_and_join_them);
    tcase_add_test(t, each_lane_leaves_a_loop_when_it_is_done);
    tcase_add_test(t, lanes_that_exit_leave_the_others_running);
    tcase_add_test(t, a_guard_masks_lanes);
    tcase_add_test(t, a_barrier_makes_what_others_stored_visible);
    tcase_add_test(t, warps_that_ended_count_as_arrived);
    tcase_add_test(t, a_barrier_in_a_branch_waits_for_the_lanes_of_both_sides);
    tcase_add_loop_test(t, shuffles_move_values_between_lanes, 0, 8);
    tcase_add_test(t, votes_ask_all_lanes);
    tcase_add_loop_test(t, what_all_lanes_of_a_warp_find_together, 0, 14);
    tcase_add_loop_test(t, a_barrier_may_reduce_predicates, 0, 5);
    tcase_add_loop_test(t, special_registers_tell_where_a_thread_is, 0, 11);
    tcase_add_test(t, blocks_hide_names_and_labels);
    tcase_add_loop_test(t, functions_are_called_by_their_addresses, 0, 3);
    add_memory(t);
    add_refusals(t);
    tcase_add_test(t, a_product_is_where_the_manual_says);
    tcase_add_test(t, a_product_of_other_types_is_refused);
    tcase_add_test(t, the_device_tells_what_its_profile_says);
    tcase_add_test(t, it_has_no_machine_code_to_show);
    return suite;
}
