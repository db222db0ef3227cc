// Every op that the partitioner can cut occurs in the random programs. A new row of the opcode table needs a
// kind there, or an entry with a reason in the lists below.
// BUILD: size = "small"
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/module.h"
#include "hlo/opcode.h"
#include "partitioner/ops/op_families.h"
#include "tests/random/random_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

struct Row {
  Opcode opcode;
  const char* name;
  int arity;
};

const Row kTable[] = {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) {Opcode::enumerator, name, arity},
#include "hlo/opcode.inc"
#undef HLO_OP
};

// Ops computed on replicated arrays: their sharding cannot be wrong. The test checks that their rule
// replicates.
const std::set<Opcode> kReplicatedArrays = {Opcode::kBitcast,
                                            Opcode::kRng,
                                            Opcode::kRngGetAndUpdateState,
                                            Opcode::kPartitionId,
                                            Opcode::kRaggedAllToAll,
                                            Opcode::kInfeed,
                                            Opcode::kOutfeed,
                                            Opcode::kSend,
                                            Opcode::kSendDone,
                                            Opcode::kRecv,
                                            Opcode::kRecvDone,
                                            Opcode::kCopyStart,
                                            Opcode::kCopyDone,
                                            Opcode::kAllReduceStart,
                                            Opcode::kAllReduceDone,
                                            Opcode::kAllGatherStart,
                                            Opcode::kAllGatherDone,
                                            Opcode::kCollectivePermuteStart,
                                            Opcode::kCollectivePermuteDone,
                                            Opcode::kAsyncStart,
                                            Opcode::kAsyncUpdate,
                                            Opcode::kAsyncDone,
                                            Opcode::kGetDimensionSize,
                                            Opcode::kSetDimensionSize,
                                            Opcode::kDynamicReshape};

const std::map<Opcode, const char*> kExceptions = {
    {Opcode::kCollectiveBroadcast, "written by hand in manual regions"},
};

TEST(OpListTest, EveryOpIsInTheRandomProgramsOrAmongTheExceptions) {
  std::set<Opcode> seen;
  for (const std::string& kind : RandomProgramKinds()) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const RandomProgram program = MakeRandomProgram(seed, kind);
      ASSERT_EQ(program.kind, kind);
      const auto module = ParseModule(program.text);
      ASSERT_TRUE(module.ok()) << module.status().message() << "\n" << program.text;
      for (const auto& instruction : (*module)->entry()->instructions()) seen.insert(instruction->opcode());
    }
  }
  for (const Row& row : kTable) {
    const bool excepted = kReplicatedArrays.count(row.opcode) + kExceptions.count(row.opcode) > 0;
    EXPECT_NE(seen.count(row.opcode) > 0, excepted)
        << row.name << (excepted ? " occurs and needs no exception" : " is in no random program");
  }
}

TEST(OpListTest, OpsOnReplicatedArraysHaveNothingToCut) {
  Module module("m");
  Computation* computation = module.AddComputation("main");
  Instruction* x = computation->AddParameter(Shape(xla::F32, {4, 4}));
  for (const Row& row : kTable) {
    if (kReplicatedArrays.count(row.opcode) == 0) continue;
    const std::vector<Instruction*> operands(row.arity == kVariadic ? 1 : row.arity, x);
    EXPECT_TRUE(
        ShardingRuleOf(*computation->Add(row.opcode, Shape(xla::F32, {4, 4}), operands)).factors.empty())
        << row.name;
  }
}

}  // namespace
}  // namespace toroid
