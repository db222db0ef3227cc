#include "simulator/machines/tpu_v3_core.h"

#include <string>
#include <utility>

#include "google/protobuf/text_format.h"
#include "hlo/base/status.h"
#include "simulator/machines/machine.pb.h"

namespace toroid {

const CoreSpec& TpuV3Core() {
  static const CoreSpec* const core = [] {
    static constexpr std::pair<const char*, const char*> kFiles[] = {
#include "simulator/machines/tpu_v3_core_embedded.inc"
    };
    MachineFamily family;
    TOROID_CHECK(google::protobuf::TextFormat::ParseFromString(kFiles[0].second, &family), kFiles[0].first);
    return new CoreSpec(family.core());
  }();
  return *core;
}

}  // namespace toroid
