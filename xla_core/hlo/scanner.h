// A cursor over HLO text: skips blanks and comments, reads words, numbers and strings, and says where it is
// when something is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xla_core/base/error.h"

namespace armillary {

class Scanner {
 public:
  Scanner(std::string_view text, std::string file, int max_nesting);

  std::string_view text() const { return text_; }
  size_t position() const { return at_; }
  void seek(size_t position) { at_ = position; }
  size_t next_position() { return skip(), at_; }  // of the next word
  std::string_view since(size_t position) const { return text_.substr(position, at_ - position); }

  bool at_end() { return skip(), at_ >= text_.size(); }
  char peek() { return at_end() ? '\0' : text_[at_]; }
  char raw_peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }  // blanks count
  void advance() { ++at_; }
  bool accept(char c);
  bool accept(std::string_view word);  // punctuation: no look at what follows
  bool accept_keyword(std::string_view word);
  void expect(char c, std::string_view why);
  void expect(std::string_view word, std::string_view why);

  // [A-Za-z_][A-Za-z0-9_.-]*, ending before "->"; empty when the next word is something else.
  std::string_view identifier();
  std::string_view peek_identifier();
  std::string_view identifier(std::string_view what);  // must be there
  // An identifier with an optional % before it, which also lets it begin with a digit.
  std::string_view name(std::string_view what);
  int64_t integer(std::string_view what);
  bool at_integer();
  std::vector<int64_t> integers(char close);  // `1,2,3` up to `close`, which is read too
  // Items with commas between them, up to `close`, which is read too.
  template <class ReadItem>
  void list(char close, std::string_view between, ReadItem&& read_item) {
    while (!accept(close)) {
      read_item();
      if (peek() != close) expect(',', between);
    }
  }
  double real(std::string_view what);
  bool boolean(std::string_view what);
  std::string string(std::string_view what);       // "quoted", escapes resolved
  std::string_view quoted(std::string_view what);  // "quoted" without the quotes, escapes untouched
  // From an opening bracket to its partner, both included; strings are stepped over.
  std::string_view balanced(std::string_view what);

  // "file:line:column"; lines and columns count from 1.
  struct Place {
    int line, column;
  };
  Place place(size_t position) const;
  std::string where(size_t position) const;
  // "expected a shape, found identifier `foo`" at the next word.
  Error expected(std::string_view what);
  template <class... Args>
  Error error(size_t position, fmt::format_string<Args...> message, Args&&... args) const {
    return Error(ErrorKind::kUser, where(position), fmt::format(message, std::forward<Args>(args)...));
  }
  // The line of the text around a position, for errors about a whole instruction.
  std::string line_text(size_t position) const;

  // Counts one level of nesting while it lives; too many are an error before they are a stack overflow.
  class Nest {
   public:
    Nest(Scanner& scanner, std::string_view what);
    ~Nest() { --scanner_.depth_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;

   private:
    Scanner& scanner_;
  };

 private:
  void skip();
  std::string found();

  std::string_view text_;
  std::string file_;
  size_t at_ = 0;
  int depth_ = 0;
  int max_nesting_;
  std::vector<size_t> line_starts_;
};

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; }

// C escapes, as HLO text uses them between quotes.
std::string escape(std::string_view text);

}  // namespace armillary
