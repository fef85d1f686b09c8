/*
 * What the page looks like.  Colours are set once for light and once for dark;
 * tests/unit/html.c checks the contrast of each pair that meets.  Series have
 * colours that the colour-blind tell apart (after Okabe and Ito), darker or
 * lighter where these would not be seen, and shapes besides.
 */
#include "report/html/html.h"
#include "report/plot/matrix.h"

static const char colours[] =
    ":root{color-scheme:light dark;"
    "--page:#ffffff;--ink:#1a1a1a;--faint:#595959;--rule:#d0d0d0;"
    "--link:#0b5394;--warn:#8a3b00;--warnback:#fff3e0;--shade:#f4f4f4;"
    "--s0:#0067a5;--s1:#b84a00;--s2:#007556;--s3:#a03a7a;"
    "--s4:#555555;--s5:#8a6d00;--s6:#3a7ca8;--s7:#000000;"
    "--band:#f3d9c5;--on:#0067a5;--off:#ececec;"
    "--g0:#b9dcf2;--g1:#f6d3ae;--g2:#b8e3cf;--g3:#efc9e0;"
    "--g4:#f3ecae;--g5:#d7d7d7;--g6:#d9cdf3;--g7:#f6c3bd}\n"
    "@media screen and (prefers-color-scheme:dark){:root{"
    "--page:#16181c;--ink:#e8e8e8;--faint:#a8a8a8;--rule:#44474d;"
    "--link:#8fc4f2;--warn:#ffb877;--warnback:#33261a;--shade:#202329;"
    "--s0:#56b4e9;--s1:#f08c3c;--s2:#3fc79a;--s3:#dd8dbd;"
    "--s4:#b5b5b5;--s5:#e3cf4a;--s6:#7f9fe0;--s7:#ffffff;"
    "--band:#4a3524;--on:#56b4e9;--off:#2a2d33;"
    "--g0:#1d4b66;--g1:#6b4018;--g2:#1b5741;--g3:#66345a;"
    "--g4:#5a5115;--g5:#4b4b4b;--g6:#463a70;--g7:#70332c}}\n";

static const char text[] =
    "*{box-sizing:border-box}"
    "body{margin:0 auto;max-width:1500px;padding:0 1rem 4rem;"
    "background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif}"
    "h1{font-size:1.7rem;margin:1.2rem 0 .2rem}"
    "h2{font-size:1.3rem;margin:2.2rem 0 .6rem;"
    "border-bottom:1px solid var(--rule)}"
    "h3{font-size:1rem;margin:0;display:inline}"
    "section>h3{display:block;margin:1rem 0 .3rem}"
    "p{margin:.3rem 0}code{font-size:.85em;overflow-wrap:anywhere}"
    ".faint,footer{color:var(--faint);font-size:.9rem}"
    ".warning{background:var(--warnback);color:var(--warn);"
    "padding:.4rem .7rem;font-weight:600}"
    ".doubt{color:var(--warn)}"
    "a,summary{color:var(--link)}"
    "a:focus-visible,summary:focus-visible,button:focus-visible,"
    "[tabindex]:focus-visible{outline:3px solid var(--link);"
    "outline-offset:2px}"
    ".skip{position:absolute;left:-99rem}"
    ".skip:focus{position:static}"
    "nav{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:.6rem 0}"
    "nav a{padding:.2rem 0}"
    "summary{cursor:pointer;padding:.15rem 0}"
    "dl{margin:.3rem 0 .6rem}dt{font-weight:600}"
    "dd{margin:0 0 .3rem 1rem;overflow-wrap:anywhere}\n";

static const char tables[] =
    ".wide{overflow-x:auto}.tall{max-height:80vh;overflow-y:auto}"
    "table{border-collapse:collapse;font-size:.92rem;"
    "font-variant-numeric:tabular-nums}"
    "th,td{padding:.22rem .7rem;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--rule)}"
    "thead th{color:var(--faint);font-weight:600;background:var(--page)}"
    ".tall thead th{position:sticky;top:0}"
    "th[scope=row]{font-weight:600}"
    ".num,.data td,.data th,.sortable td{text-align:right;white-space:nowrap}"
    ".sortable td.text{text-align:left;white-space:normal;"
    "overflow-wrap:anywhere}"
    ".sortable tbody th{font-family:ui-monospace,monospace;"
    "font-weight:400;overflow-wrap:anywhere}"
    ".sortable details code{display:block;max-width:60rem}"
    ".sortable button{all:unset;cursor:pointer}"
    ".sortable button:focus-visible{outline:3px solid var(--link)}"
    ".sortable [aria-sort=ascending] button::after{content:\" ▲\"}"
    ".sortable [aria-sort=descending] button::after{content:\" ▼\"}"
    "td.note{color:var(--faint);padding-left:1.6rem;border-bottom-width:2px}"
    ".data{font-size:.85rem}\n";

static const char plots[] =
    ".figures{display:grid;gap:1.6rem 2.2rem;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr))}"
    "figure{margin:0;min-width:0}"
    "figcaption{min-height:2.6rem}"
    "figcaption code{color:var(--faint)}"
    "figure svg{display:block;width:100%;height:auto;max-width:560px}"
    ".picture{overflow-x:auto}.picture svg{min-width:34rem}"
    ".repeat{font-size:.85rem;color:var(--faint)}"
    ".repeat code{display:block;max-height:3.2em;overflow:auto;"
    "background:var(--shade);padding:.1rem .4rem;margin:.15rem 0}"
    "figure details{font-size:.9rem}figure .wide{max-height:24rem}"
    "figure text{font:12px system-ui,sans-serif;fill:var(--ink)}"
    "figure .tick,figure .name{fill:var(--faint)}"
    "figure .incell{font-size:11px}"
    ".axis{stroke:var(--faint);stroke-width:1}"
    ".grid{stroke:var(--rule);stroke-width:.7}"
    ".line{fill:none;stroke-width:1.6}"
    ".model{fill:none;stroke-width:1.6;stroke-dasharray:5 4}"
    ".spread{fill:none;stroke-width:1.4}"
    ".band{fill:var(--band)}"
    ".mark{stroke:var(--s1);stroke-width:1.5;stroke-dasharray:2 3}"
    ".said{fill:var(--s1)}"
    ".bar{fill:var(--s0)}line.spread{stroke:var(--ink)}"
    ".on{fill:var(--on)}.off{fill:var(--off)}"
    ".cell.none{fill:none;stroke:var(--rule)}\n";

static const char print[] =
    "@media (max-width:600px){body{padding:0 .7rem 3rem}"
    "th,td{padding:.22rem .45rem}h1{font-size:1.4rem}"
    "#answer td,#answer thead th{white-space:nowrap}"
    "#answer th:first-child{position:sticky;left:0;"
    "background:var(--page)}}\n"
    "@media print{nav,.skip,.sortable button::after{display:none}"
    "body{max-width:none;font-size:10pt;padding:0}"
    "table{font-size:8pt}th,td{padding:.1rem .4rem}"
    ".wide,.tall,.repeat code{overflow:visible;max-height:none}"
    "figure,.picture{break-inside:avoid}h2,figcaption{break-after:avoid}"
    ".figures{grid-template-columns:1fr 1fr}"
    ".picture svg{min-width:0;width:auto;max-height:23cm}"
    "figure details{display:none}}\n";

enum { SERIES = 8, GROUPS = 8 };

void html_style(struct buf *out)
{
    static const char *const parts[] = {colours, text,  tables,
                                        plots,   print, NULL};
    buf_text(out, "<style>\n");
    for (const char *const *part = parts; *part != NULL; part++)
        buf_text(out, *part);
    for (int i = 0; i < SERIES; i++)
        buf_printf(out,
                   ".line.s%d,.model.s%d,.spread.s%d{stroke:var(--s%d)}"
                   ".points.s%d,.span.s%d{fill:var(--s%d)}\n",
                   i, i, i, i, i, i, i);
    for (int i = 0; i < GROUPS; i++)
        buf_printf(out, ".cell.g%d{fill:var(--g%d)}\n", i, i);
    matrix_style(out);
    buf_text(out, "</style>\n");
}

/* Headings of a table become buttons that sort it, by numbers where cells have
 * one; and a table of data can be had as CSV.  All is there without it. */
static const char script[] =
    "(function(){'use strict';\n"
    "function key(row,i){var c=row.cells[i];\n"
    "var t=c?c.textContent.trim():'',n=parseFloat(t.replace(/^[?≥≤~(]+/,''));\n"
    "return{t:t,n:n};}\n"
    "function order(a,b,up){var x=isNaN(a.n),y=isNaN(b.n);\n"
    "if(x!==y){return x?1:-1;}\n"
    "var d=x?a.t.localeCompare(b.t):a.n-b.n;return up?d:-d;}\n"
    "function sort(table,i){var heads=table.tHead.rows[0].cells;\n"
    "var up=heads[i].getAttribute('aria-sort')!=='ascending';\n"
    "var body=table.tBodies[0];\n"
    "var rows=Array.prototype.map.call(body.rows,function(r){\n"
    "return{r:r,k:key(r,i)};});\n"
    "rows.sort(function(a,b){return order(a.k,b.k,up);});\n"
    "rows.forEach(function(x){body.appendChild(x.r);});\n"
    "Array.prototype.forEach.call(heads,function(h){\n"
    "h.removeAttribute('aria-sort');});\n"
    "heads[i].setAttribute('aria-sort',up?'ascending':'descending');}\n"
    "document.querySelectorAll('table.sortable').forEach(function(table){\n"
    "Array.prototype.forEach.call(table.tHead.rows[0].cells,function(h,i){\n"
    "var b=document.createElement('button');b.type='button';\n"
    "b.textContent=h.textContent;h.textContent='';h.appendChild(b);\n"
    "b.addEventListener('click',function(){sort(table,i);});});});\n"
    "function csv(table){return Array.prototype.map.call(table.rows,\n"
    "function(r){return Array.prototype.map.call(r.cells,function(c){\n"
    "var t=c.textContent;\n"
    "return /[\",]/.test(t)?'\"'+t.replace(/\"/g,'\"\"')+'\"':t;}).join(',');\n"
    "}).join('\\r\\n')+'\\r\\n';}\n"
    "document.querySelectorAll('table.data').forEach(function(table){\n"
    "var a=document.createElement('a');a.textContent='as CSV';\n"
    "a.href='#';a.download='data.csv';\n"
    "a.addEventListener('click',function(){\n"
    "a.href='data:text/csv;charset=utf-8,'+encodeURIComponent(csv(table));});\n"
    "table.parentNode.parentNode.insertBefore(a,table.parentNode);});\n"
    "})();\n";

void html_script(struct buf *out)
{
    buf_text(out, "<script>\n");
    buf_text(out, script);
    buf_text(out, "</script>\n");
}
