#include "xla_core/hlo/scanner.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace armillary {

Scanner::Scanner(std::string_view text, std::string file, int max_nesting)
    : text_(text), file_(file.empty() ? "hlo" : std::move(file)), max_nesting_(max_nesting), line_starts_{0} {
  for (size_t i = 0; i < text.size(); ++i) {
    const void* newline = std::memchr(text.data() + i, '\n', text.size() - i);
    if (newline == nullptr) break;
    i = static_cast<const char*>(newline) - text.data();
    line_starts_.push_back(i + 1);
  }
}

void Scanner::skip() {
  const size_t size = text_.size();
  while (at_ < size) {
    const char c = text_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && at_ + 1 < size && text_[at_ + 1] == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos)
        throw error(at_, "expected */ to close the comment that begins here, found the end of the text");
      at_ = end + 2;
    } else if (c == '/' && at_ + 1 < size && text_[at_ + 1] == '/') {
      at_ = std::min(text_.find('\n', at_), size);
    } else {
      return;
    }
  }
}

bool Scanner::accept(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

bool Scanner::accept(std::string_view word) {
  skip();
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

bool Scanner::accept_keyword(std::string_view word) {
  if (peek_identifier() != word) return false;
  at_ += word.size();
  return true;
}

void Scanner::expect(char c, std::string_view why) {
  if (!accept(c)) throw expected(fmt::format("'{}' {}", c, why));
}

void Scanner::expect(std::string_view word, std::string_view why) {
  if (!accept(word)) throw expected(fmt::format("'{}' {}", word, why));
}

std::string_view Scanner::peek_identifier() {
  if (!is_letter(peek())) return {};
  size_t end = at_ + 1;
  while (end < text_.size() && is_name_char(text_[end]) &&
         !(text_[end] == '-' && text_.substr(end, 2) == "->"))
    ++end;
  return text_.substr(at_, end - at_);
}

std::string_view Scanner::identifier() {
  const std::string_view word = peek_identifier();
  at_ += word.size();
  return word;
}

std::string_view Scanner::identifier(std::string_view what) {
  const std::string_view word = identifier();
  if (word.empty()) throw expected(what);
  return word;
}

std::string_view Scanner::name(std::string_view what) {
  if (peek() != '%') return identifier(what);
  const size_t begin = at_ + 1;
  size_t end = begin;
  while (end < text_.size() && is_name_char(text_[end]) &&
         !(text_[end] == '-' && text_.substr(end, 2) == "->"))
    ++end;
  if (end == begin) throw expected(what);
  at_ = end;
  return text_.substr(begin, end - begin);
}

std::vector<int64_t> Scanner::integers(char close) {
  std::vector<int64_t> out;
  list(close, "between numbers", [&] { out.push_back(integer("a number")); });
  return out;
}

bool Scanner::at_integer() {
  const char c = peek();
  return is_digit(c) || (c == '-' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]));
}

int64_t Scanner::integer(std::string_view what) {
  if (!at_integer()) throw expected(what);
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (status != std::errc()) throw error(at_, "expected {}, found a number that does not fit 64 bits", what);
  at_ = end - text_.data();
  return value;
}

double Scanner::real(std::string_view what) {
  skip();
  double value = 0;
  const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (status == std::errc::invalid_argument) throw expected(what);
  if (status != std::errc()) throw error(at_, "expected {}, found a number that does not fit f64", what);
  at_ = end - text_.data();
  return value;
}

bool Scanner::boolean(std::string_view what) {
  if (accept_keyword("true")) return true;
  if (accept_keyword("false")) return false;
  throw expected(fmt::format("true or false for {}", what));
}

std::string_view Scanner::quoted(std::string_view what) {
  if (peek() != '"') throw expected(what);
  const size_t begin = at_ + 1;
  size_t end = begin;
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size())
    throw error(at_, "expected \" to close the string that begins here, found the end of the text");
  at_ = end + 1;
  return text_.substr(begin, end - begin);
}

namespace {

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Up to `limit` digits of a base, from text[i] on; moves i past them.
char numbered_char(std::string_view text, size_t& i, int base, int limit) {
  int value = 0;
  for (int n = 0; n < limit && i < text.size() && digit_value(text[i]) < base; ++n)
    value = value * base + digit_value(text[i++]);
  return static_cast<char>(value);
}

char simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    default:
      return c;  // quotes, backslash, and whatever needs no escape
  }
}

}  // namespace

std::string Scanner::string(std::string_view what) {
  const std::string_view raw = quoted(what);
  if (raw.find('\\') == std::string_view::npos) return std::string(raw);
  std::string result;
  for (size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\') {
      result += raw[i++];
      continue;
    }
    const char c = raw[++i];
    if (c >= '0' && c <= '7')
      result += numbered_char(raw, i, 8, 3);
    else if (c == 'x')
      result += numbered_char(raw, ++i, 16, 2);
    else
      result += simple_escape(raw[i++]);
  }
  return result;
}

std::string escape(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '\n':
        result += "\\n";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\r':
        result += "\\r";
        break;
      case '"':
        result += "\\\"";
        break;
      case '\'':
        result += "\\'";
        break;
      case '\\':
        result += "\\\\";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f)
          result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
        else
          result += c;
    }
  }
  return result;
}

std::string_view Scanner::balanced(std::string_view what) {
  const char open = peek();
  if (open != '{' && open != '[' && open != '(') throw expected(what);
  const size_t begin = at_;
  std::string partners;  // the closing brackets still owed
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      quoted("a string");
      continue;
    }
    ++at_;
    if (c == '{')
      partners += '}';
    else if (c == '[')
      partners += ']';
    else if (c == '(')
      partners += ')';
    else if (c == '}' || c == ']' || c == ')') {
      if (c != partners.back())
        throw error(at_ - 1, "expected '{}' in {}, found '{}'", partners.back(), what, c);
      partners.pop_back();
      if (partners.empty()) return text_.substr(begin, at_ - begin);
    }
  }
  throw error(begin, "expected '{}' to close {} that begins here, found the end of the text", partners.back(),
              what);
}

Scanner::Place Scanner::place(size_t position) const {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), position);
  return {static_cast<int>(next - line_starts_.begin()), static_cast<int>(position - *(next - 1)) + 1};
}

std::string Scanner::where(size_t position) const {
  const Place at = place(std::min(position, text_.size()));
  return fmt::format("{}:{}:{}", file_, at.line, at.column);
}

std::string Scanner::found() {
  if (at_end()) return "the end of the text";
  constexpr size_t kShown = 40;
  const auto shown = [](std::string_view word) {
    return std::string(word.substr(0, kShown)) + (word.size() > kShown ? "..." : "");
  };
  if (const std::string_view word = peek_identifier(); !word.empty()) return fmt::format("'{}'", shown(word));
  const char c = text_[at_];
  if (is_digit(c) || c == '%' || c == '-') {
    size_t end = at_ + 1;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    return fmt::format("'{}'", shown(text_.substr(at_, end - at_)));
  }
  if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f)
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  return fmt::format("'{}'", c);
}

Error Scanner::expected(std::string_view what) {
  const std::string what_is_there = found();
  return error(at_, "expected {}, found {}", what, what_is_there);
}

std::string Scanner::line_text(size_t position) const {
  constexpr size_t kShown = 120;
  const size_t end = std::min(text_.find('\n', position), text_.size());
  std::string line(text_.substr(position, std::min(end - position, kShown)));
  if (end - position > kShown) line += "...";
  return line;
}

Scanner::Nest::Nest(Scanner& scanner, std::string_view what) : scanner_(scanner) {
  if (scanner.depth_ >= scanner.max_nesting_)
    throw scanner.error(scanner.next_position(), "{} nested deeper than {} levels", what,
                        scanner.max_nesting_);
  ++scanner.depth_;
}

}  // namespace armillary
