#include "xla_core/base/error.h"

namespace armillary {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUser:
      return "user";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kResource:
      return "resource";
    case ErrorKind::kInternal:
      return "internal";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string where, std::string message)
    : kind_(kind), where_(std::move(where)), message_(std::move(message)) {
  what_ = where_.empty() ? message_ : where_ + ": " + message_;
}

}  // namespace armillary
