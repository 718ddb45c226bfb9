// The one exception type of the core: what went wrong, where, and whose fault it is.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace armillary {

enum class ErrorKind {
  kUser,         // the input is wrong
  kUnsupported,  // the input is right, but we cannot do it yet
  kResource,     // memory, threads, files
  kInternal,     // our own mistake
};

std::string_view to_string(ErrorKind kind);

// Thrown with the place and both sides of a mismatch; caught at the two edges (pybind, pjrt).
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string where, std::string message);

  ErrorKind kind() const { return kind_; }
  const std::string& where() const { return where_; }      // "model.hlo:12:8: %y = add(%a, %b)", or empty
  const std::string& message() const { return message_; }  // one sentence, without the place
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  ErrorKind kind_;
  std::string where_;
  std::string message_;
  std::string what_;
};

template <class... Args>
Error error_at(ErrorKind kind, std::string where, fmt::format_string<Args...> text, Args&&... args) {
  return Error(kind, std::move(where), fmt::format(text, std::forward<Args>(args)...));
}

// An error without a place; whoever knows the place adds it (see hlo/instruction.h for those that blame an
// instruction).
template <class... Args>
Error user_error(fmt::format_string<Args...> text, Args&&... args) {
  return error_at(ErrorKind::kUser, "", text, std::forward<Args>(args)...);
}
template <class... Args>
Error unsupported_error(fmt::format_string<Args...> text, Args&&... args) {
  return error_at(ErrorKind::kUnsupported, "", text, std::forward<Args>(args)...);
}
template <class... Args>
Error resource_error(fmt::format_string<Args...> text, Args&&... args) {
  return error_at(ErrorKind::kResource, "", text, std::forward<Args>(args)...);
}
template <class... Args>
Error internal_error(fmt::format_string<Args...> text, Args&&... args) {
  return error_at(ErrorKind::kInternal, "", text, std::forward<Args>(args)...);
}

}  // namespace armillary

// For laws of our own code, never for input.
#define ARM_CHECK(condition)                                                                          \
  do {                                                                                                \
    if (!(condition)) throw ::armillary::internal_error("{}:{}: {}", __FILE__, __LINE__, #condition); \
  } while (false)
