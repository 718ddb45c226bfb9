#include "xla_core/analysis/graph.h"

#include <string_view>

namespace armillary {
namespace {

std::string escaped(std::string_view text, bool html) {
  std::string out;
  for (char c : text) {
    if (html && c == '<') {
      out += "&lt;";
    } else if (html && c == '>') {
      out += "&gt;";
    } else if (html && c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += html ? "&quot;" : "\\\"";
    } else if (!html && c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view fill_of(const Instruction& i) {
  if (i.is(Op::parameter)) return "#ffe9b8";
  if (i.is(Op::constant)) return "#eeeeee";
  if (i.is(Op::fusion)) return "#d9ead3";
  if (i.has(kExpensive)) return "#f4cccc";
  if (i.has(kCollective)) return "#d9d2e9";
  if (i.has(kCallsControl)) return "#cfe2f3";
  return "#ffffff";
}

void append_page_line(std::string& out, const Instruction& i) {
  out += fmt::format("<li id=\"{}\" style=\"background:{}\">{}<b>{}</b> = {} {}(", escaped(i.name(), true),
                     fill_of(i), i.is_root() ? "ROOT " : "", escaped(i.name(), true),
                     escaped(to_string(i.shape()), true), to_string(i.op()));
  for (int64_t k = 0; k < i.num_operands(); ++k) {
    const std::string name = escaped(i.operand(k)->name(), true);
    out += fmt::format("{}<a href=\"#{}\">{}</a>", k ? ", " : "", name, name);
  }
  out += ")";
  for (const Computation* callee : i.callees())
    out += fmt::format(" calls <a href=\"#{0}\">{0}</a>", escaped(callee->name(), true));
  if (!i.users().empty()) out += " <small>used by";
  for (const Instruction* user : i.users())
    out += fmt::format(" <a href=\"#{0}\">{0}</a>", escaped(user->name(), true));
  if (!i.users().empty()) out += "</small>";
  if (!i.metadata().op_name.empty()) out += " <small>" + escaped(i.metadata().op_name, true) + "</small>";
  out += "</li>\n";
}

}  // namespace

std::string to_dot(const Module& m) {
  std::string out = fmt::format(
      "digraph \"{}\" {{\n  rankdir=TB; node [shape=box, style=filled, fontname=\"monospace\", "
      "fontsize=10];\n",
      escaped(m.name(), false));
  int number = 0;
  for (const Computation* c : m.computations()) {
    out += fmt::format("  subgraph cluster_{} {{\n    label=\"{}\";\n", number++, escaped(c->name(), false));
    for (const Instruction* i : c->instructions())
      out += fmt::format("    n{} [label=\"{}\\n{}\", fillcolor=\"{}\"{}];\n", i->id(),
                         escaped(i->name(), false), escaped(to_string(i->shape()), false), fill_of(*i),
                         i->is_root() ? ", penwidth=3" : "");
    out += "  }\n";
    for (const Instruction* i : c->instructions()) {
      for (int64_t k = 0; k < i->num_operands(); ++k)
        out += fmt::format("  n{} -> n{} [taillabel=\"{}\"];\n", i->operand(k)->id(), i->id(), k);
      for (const Computation* callee : i->callees())
        if (callee->root())
          out += fmt::format("  n{} -> n{} [style=dashed, color=gray];\n", callee->root()->id(), i->id());
    }
  }
  return out + "}\n";
}

std::string to_html(const Module& m) {
  std::string out =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>" + escaped(m.name(), true) +
      "</title><style>body{font:13px monospace;margin:1em}ol{list-style:none;padding:0}li{padding:2px "
      "6px;border-bottom:1px solid #ddd}"
      "li:target{outline:2px solid #c00}small{color:#666}</style><h1>" +
      escaped(m.name(), true) +
      "</h1><input id=\"q\" placeholder=\"filter\" size=\"40\" oninput=\"for(const e of "
      "document.querySelectorAll('li'))"
      "e.hidden=!e.textContent.includes(this.value)\">\n";
  for (const Computation* c : m.computations()) {
    out += fmt::format("<h2 id=\"{0}\">{1}{0}</h2><ol>\n", escaped(c->name(), true),
                       c->is_entry() ? "ENTRY " : "");
    for (const Instruction* i : c->instructions()) append_page_line(out, *i);
    out += "</ol>\n";
  }
  return out + "</html>\n";
}

}  // namespace armillary
