// How long a core takes for a group, by its roofline: the baseline that finer models must beat, and the model of chips whose
// compiler's choices are not described in their file.
//
//   group_seconds + max(P, V, M)
//   P = flops of products, sizes padded to tiles of the matrix unit, / (peak x product_efficiency)
//   V = vector instructions / slots per second
//   M = bytes read and written, arrays padded to tiles, / (bytes_per_second x stream_share)
// Arrays in memory on the chip, S(1), have no part in M; loading or storing a register of one is a vector instruction.
// Attention kernels written in Pallas: kernel_time.h. A custom call that is not known takes the time of its bytes.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/instruction.h"
#include "simulator/chip/core_model.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

class SimpleCore : public CoreModel {
 public:
  explicit SimpleCore(const CoreSpec& core) : core_(core) {}

  const GroupTime& TimeOf(const Instruction& group) override;
  RuleSet RulesOf(const Instruction&) const override { return {}; }

 private:
  GroupTime Compute(const Instruction& group) const;
  double ProductSeconds(const Instruction& group) const;

  const CoreSpec core_;
  absl::flat_hash_map<const Instruction*, GroupTime> known_;
};

}  // namespace toroid
