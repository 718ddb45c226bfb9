// Bytes that the caller reads and then gives back.
#pragma once

#include <memory>
#include <string>

namespace armillary::pjrt {

template <class Self>
struct Serialized {
  std::string bytes;

  static Self* make(std::string content, const char*& data, size_t& size, void (*&deleter)(Self*)) {
    auto self = std::make_unique<Self>();
    self->bytes = std::move(content);
    data = self->bytes.data();
    size = self->bytes.size();
    deleter = [](Self* s) { delete s; };
    return self.release();
  }
};

}  // namespace armillary::pjrt
