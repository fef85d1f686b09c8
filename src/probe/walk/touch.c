#include "probe/walk/touch.h"

enum { RANGE_BYTES = 24, THREADS_MOST = 256 };

void touch_add(struct touch *t, uint64_t address, uint64_t step, uint64_t count)
{
    const uint64_t range[] = {address, step, count};
    buf_append(&t->ranges, range, sizeof range);
}

/* A block for each range. */
static void touch_kernel(struct prober *prober, unsigned threads,
                         struct buf *out)
{
    struct kernel_text k;
    kernel_begin(&k, out, device_cc(prober_info(prober)), .name = "touch",
                 .parameters = "ranges");
    ptx_with(&k,
             ".reg .b32 %block, %me, %word;\n"
             ".reg .b64 %range, %at, %step, %count, %next;\n"
             ".reg .pred %done;\n"
             "ld.param.u64 %range, [ranges];\n"
             "mov.u32 %block, %ctaid.x;\n"
             "mad.wide.u32 %range, %block, $bytes, %range;\n"
             "ld.global.u64 %at, [%range];\n"
             "ld.global.u64 %step, [%range+8];\n"
             "ld.global.u64 %count, [%range+16];\n"
             "mov.u32 %me, %tid.x;\n"
             "cvt.u64.u32 %next, %me;\n"
             "mad.lo.u64 %at, %next, %step, %at;\n"
             "mul.lo.u64 %step, %step, $threads;\n"
             "TOUCH:\n"
             "setp.ge.u64 %done, %next, %count;\n"
             "@%done bra TOUCHED;\n"
             "ld.global.cg.u32 %word, [%at];\n"
             "add.u64 %at, %at, %step;\n"
             "add.u64 %next, %next, $threads;\n"
             "// a use of what was loaded, so that it is loaded\n"
             "setp.eq.u32 %done, %word, 0x5eed5eed;\n"
             "@%done st.global.u32 [%at], %word;\n"
             "bra TOUCH;\n"
             "TOUCHED:\n",
             WORD(bytes, RANGE_BYTES), WORD(threads, threads));
    kernel_end(&k);
}

int touch_ahead(struct prober *prober, struct touch *t, struct pin *pin,
                struct error *err)
{
    if (t->ranges.length == 0)
        return 0;
    if (prober_buffer(prober, BUFFER_TOUCH, t->ranges.length, &t->args[0],
                      err) != 0 ||
        prober_send(prober, BUFFER_TOUCH, t->ranges.data, t->ranges.length,
                    err) != 0)
        return err->code;
    const unsigned threads =
        device_block_threads(prober_info(prober), THREADS_MOST);
    touch_kernel(prober, threads, &t->ptx);
    t->ahead = (struct pin_ahead){
        .ptx = &t->ptx,
        .shot = {.kernel = "touch",
                 .blocks = (unsigned)(t->ranges.length / RANGE_BYTES),
                 .threads = threads,
                 .carve_out = CARVE_OUT_DEFAULT,
                 .args = t->args,
                 .arg_count = 1,
                 .ahead = true},
    };
    pin->ahead = &t->ahead;
    return 0;
}

void touch_free(struct touch *t)
{
    buf_free(&t->ranges);
    buf_free(&t->ptx);
}
