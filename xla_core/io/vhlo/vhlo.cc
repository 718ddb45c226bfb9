#include "xla_core/io/vhlo/vhlo.h"

#include "xla_core/io/vhlo/importer.h"
#include "xla_core/io/vhlo/sections.h"

namespace armillary {

std::unique_ptr<Module> from_stablehlo_artifact(std::span<const std::byte> bytes) {
  try {
    vhlo::Ir ir;
    vhlo::read_artifact(bytes, ir);
    auto module = std::make_unique<Module>("main");
    vhlo::Importer(ir, *module).run();
    return module;
  } catch (const Error& e) {
    if (!e.where().empty()) throw;
    throw Error(e.kind(), "StableHLO artifact", e.message());
  }
}

bool is_known_stablehlo_artifact(std::span<const std::byte> bytes) {
  try {
    vhlo::ByteReader in(bytes, bytes.data());
    vhlo::read_header(in);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace armillary
