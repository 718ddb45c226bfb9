"""A simulation as one page: timeline, plots and tables, without anything from elsewhere."""

import html
import json
from typing import TYPE_CHECKING, Any

from armillary._simulate_report import duration, report, row_name, rows

if TYPE_CHECKING:
    from armillary._simulate import Result

_MOST_SPANS = 20000  # the longest; a browser draws more only slowly

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 14px system-ui, sans-serif; margin: 1.5em; color: #222; }}
h1 {{ font-size: 1.3em; }} h2 {{ font-size: 1.05em; margin: 1.4em 0 .4em; }}
canvas {{ width: 100%; display: block; border: 1px solid #ccc; cursor: grab; }}
.bar {{ display: flex; align-items: center; margin: 2px 0; }}
.bar span {{ width: 14em; }} .bar i {{ display: block; height: 12px; margin-right: .5em; }}
pre {{ background: #f6f6f6; padding: 1em; overflow-x: auto; }}
#hint {{ min-height: 1.4em; }}
</style></head><body>
<h1>{title}</h1>
<p>{summary}</p>
<h2>Timeline</h2>
<p>Drag to move, turn the wheel to zoom, double-click to see all.</p>
<canvas id="timeline"></canvas>
<div id="hint"></div>
<h2>Seconds by class</h2><div id="classes"></div>
<h2>Exposed communication by kind</h2><div id="kinds"></div>
<h2>Busy share of each unit</h2><div id="units"></div>
<h2>Roofline</h2><svg id="roofline" width="620" height="275"></svg>
<h2>Report</h2><pre>{report}</pre>
<script>
const data = {data};
{script}
</script></body></html>
"""

_SCRIPT = r"""
const colors = {"matmul": "#3b76c4", "convolution": "#5b9bd5", "elementwise": "#7cb342", "reduction": "#c0ca33",
  "data movement": "#fb8c00", "gather/scatter": "#f4511e", "sort": "#8d6e63", "collective": "#8e24aa",
  "control": "#78909c", "other": "#bdbdbd"};
const canvas = document.getElementById("timeline"), hint = document.getElementById("hint");
const total = data.seconds || 1, row_height = 40, axis = 22, rows = [...new Set(data.spans.map(span => span[0]))].sort();
let from = 0, to = total;
const seconds = s => s >= 1 ? s.toFixed(3) + " s" : s >= 1e-3 ? (s * 1e3).toFixed(3) + " ms" : (s * 1e6).toFixed(3) + " us";
// About n round steps: 1, 2 or 5 times a power of ten.
function step(range, n) {
  const power = 10 ** Math.floor(Math.log10(range / n));
  return power * [1, 2, 5, 10].find(k => k * power >= range / n);
}
// The core is never idle: where it has no spans, loops repeat.
const core = data.spans.filter(([track]) => track === 0).sort((a, b) => a[2] - b[2]), gaps = [];
let busy = 0;
for (const [, , start, end] of core) {
  if (start - busy > 1e-4 * total) gaps.push([busy, start]);
  busy = Math.max(busy, end);
}
if (total - busy > 1e-4 * total) gaps.push([busy, total]);
function draw() {
  const width = canvas.clientWidth, height = rows.length * row_height + axis, dense = window.devicePixelRatio || 1;
  canvas.width = width * dense; canvas.height = height * dense; canvas.style.height = height + "px";
  const g = canvas.getContext("2d"), x = t => (t - from) / (to - from) * width;
  g.scale(dense, dense); g.font = "11px system-ui, sans-serif"; g.textBaseline = "middle";
  const box = (left, right, top, bottom, text, color) => {
    const l = Math.max(0, left), r = Math.min(width, right);
    if (r - l > 30) { g.save(); g.beginPath(); g.rect(l, top, r - l, bottom - top); g.clip(); g.fillStyle = color;
      g.fillText(text, l + 4, (top + bottom) / 2 + 1); g.restore(); }
  };
  const every = step(to - from, 8);
  for (let t = Math.ceil(from / every) * every; t <= to; t += every) {
    g.fillStyle = "#e4e4e4"; g.fillRect(x(t), 0, 1, height - axis);
    g.fillStyle = "#666"; g.fillText(seconds(t).replace(/\.?0+ /, " "), Math.min(x(t), width - 55), height - axis / 2);
  }
  for (const [start, end] of gaps) {
    if (end < from || start > to) continue;
    g.fillStyle = "#f0f0f0"; g.fillRect(x(start), 15, x(end) - x(start), 22);
    box(x(start), x(end), 15, 37, "trips of loops that repeat those drawn: " + seconds(end - start), "#777");
  }
  for (const [track, op, start, end] of data.spans) {
    if (end < from || start > to) continue;
    const top = rows.indexOf(track) * row_height + 15, wide = x(end) - x(start);
    g.fillStyle = colors[data.ops[op][1]] || "#999";
    g.fillRect(x(start), top, Math.max(0.5, wide > 3 ? wide - 1 : wide), 22);
    box(x(start), x(end), top, top + 22, data.ops[op][0], "#fff");
  }
  rows.forEach((track, row) => { g.fillStyle = "#666"; g.fillText(data.tracks[track], 2, row * row_height + 8); });
}
function spanAt(event) {
  const at = from + event.offsetX / canvas.clientWidth * (to - from), row = Math.floor(event.offsetY / row_height);
  return data.spans.find(([track, , start, end]) => track === rows[row] && start <= at && at <= end);
}
let grabbed = null;
canvas.onmousedown = e => { grabbed = e.offsetX; };
window.onmouseup = () => { grabbed = null; };
canvas.onmousemove = e => {
  if (grabbed !== null) {
    const moved = (grabbed - e.offsetX) / canvas.clientWidth * (to - from);
    from += moved; to += moved; grabbed = e.offsetX; draw();
  }
  const span = spanAt(e);
  hint.textContent = span ? `${data.ops[span[1]][0]}: ${seconds(span[3] - span[2])}, bound by ${span[4]} ${data.ops[span[1]][2]}` : "";
};
canvas.onwheel = e => {
  e.preventDefault();
  const at = from + e.offsetX / canvas.clientWidth * (to - from), by = e.deltaY > 0 ? 1.25 : 0.8;
  from = at - (at - from) * by; to = at + (to - at) * by; draw();
};
canvas.ondblclick = () => { from = 0; to = total; draw(); };
window.onresize = draw;
function bars(where, rows, most, text) {
  for (const [name, value, color] of rows) {
    const bar = document.createElement("div"), label = document.createElement("span"), box = document.createElement("i");
    bar.className = "bar"; label.textContent = name; box.style.background = color || "#3b76c4";
    box.style.width = 30 * value / (most || 1) + "em";
    bar.append(label, box, text(value)); document.getElementById(where).append(bar);
  }
}
bars("classes", data.classes.map(([n, s]) => [n, s, colors[n]]), data.seconds, seconds);
bars("kinds", data.kinds, data.seconds, seconds);
if (!data.kinds.length) document.getElementById("kinds").textContent = "no collectives";
bars("units", data.units, 1, v => (v * 100).toFixed(1) + " %");
function roofline() {
  const r = data.roofline, svg = document.getElementById("roofline"), space = "http://www.w3.org/2000/svg";
  const intensity = Math.min(1e4, Math.max(r.flops_per_byte, 1e-2)), x = v => 80 + 440 * (Math.log10(v) + 2) / 6;
  const y = v => 230 - 210 * Math.max(0, Math.log10(v / data.peak) + 4) / 4.2;
  const slope = v => Math.min(data.peak, data.peak * v / r.ridge);
  const first = Math.max(1e-2, r.ridge * 1e-4);
  const points = [first, r.ridge, 1e4].map(v => `${x(v)},${y(slope(v))}`).join(" ");
  const rate = v => v >= 1e12 ? (v / 1e12).toPrecision(3) + " TFLOP/s" : (v / 1e9).toPrecision(3) + " GFLOP/s";
  const add = (name, attributes, text) => {
    const e = document.createElementNS(space, name);
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    e.textContent = text || ""; svg.append(e);
  };
  const line = (x1, y1, x2, y2) => add("line", {x1, y1, x2, y2, stroke: "#e0e0e0"});
  for (let e = -2; e <= 4; ++e) {
    line(x(10 ** e), 15, x(10 ** e), 230);
    add("text", {x: x(10 ** e), y: 245, "font-size": 11, fill: "#666", "text-anchor": "middle"}, e < 0 ? (10 ** e).toString() : "1" + "0".repeat(e));
  }
  for (let e = 0; e >= -4; --e) {
    line(80, y(data.peak * 10 ** e), 520, y(data.peak * 10 ** e));
    add("text", {x: 76, y: y(data.peak * 10 ** e) + 4, "font-size": 11, fill: "#666", "text-anchor": "end"}, rate(data.peak * 10 ** e));
  }
  add("polyline", {points, fill: "none", stroke: "#555", "stroke-width": 2});
  if (r.achieved > 0) {
    add("circle", {cx: x(intensity), cy: y(r.achieved), r: 5, fill: "#c62828"});
    add("text", {x: x(intensity) + 9, y: y(r.achieved) + 14, "font-size": 12, fill: "#c62828"}, rate(r.achieved));
  }
  add("text", {x: 80, y: 266, "font-size": 12}, `FLOPs per byte of HBM (ridge at ${r.ridge.toFixed(0)}); this program: ${r.flops_per_byte.toFixed(1)}`);
}
roofline(); draw();
document.body.dataset.drawn = data.spans.length;
"""


def page(result: "Result") -> str:
    title = f"{result.name} on {result.topology}"
    summary = (
        f"{duration(result.seconds)} a step, MFU {result.mfu:.1%},"
        f" {duration(result.exposed_communication_seconds)} of communication exposed,"
        f" {result.hbm_peak_bytes / (1 << 30):.3f} GiB of HBM at the peak"
    )
    return _PAGE.format(
        title=html.escape(title),
        summary=html.escape(summary),
        report=html.escape(report(result, 30)),
        data=json.dumps(_data(result)).replace("</", "<\\/"),
        script=_SCRIPT,
    )


def _data(r: "Result") -> dict[str, Any]:
    all_rows, row_of = rows(r)
    spans = zip(r.timeline, row_of, strict=True)
    longest = sorted(spans, key=lambda span: span[0].start - span[0].end)[:_MOST_SPANS]
    return {
        "seconds": r.seconds,
        "peak": r.peak_flops,
        "tracks": [row_name(*row) for row in all_rows],
        "ops": [[op.name, op.op_class, op.source] for op in r.ops],
        "spans": [[row, s.op, s.start, s.end, s.bound] for s, row in longest],
        "classes": sorted(([n, s] for n, s in r.by_class.items() if s > 0), key=lambda row: -row[1]),
        "kinds": [[n, c.exposed_seconds, "#8e24aa"] for n, c in r.communication_by_kind.items()],
        "units": list(r.utilization.items()),
        "roofline": r.roofline,
    }
