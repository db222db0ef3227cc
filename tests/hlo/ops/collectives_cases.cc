#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {
namespace {

const char kFour[] = "HloModule m, num_partitions=4";

// Groups of two on a mesh with one axis of four, which the caller then breaks.
xla::MeshAxesReplicaGroupListProto* MeshGroups(Instruction* it) {
  it->MutableAttrs()->clear_replica_groups();
  it->MutableAttrs()->clear_collective_device_list();
  auto* groups = it->MutableAttrs()->mutable_mesh_axes_replica_group_list();
  auto* axis = groups->mutable_mesh()->add_axes();
  axis->set_name("a");
  axis->set_size(4);
  groups->add_axes()->set_mesh_axis_index(0);
  return groups;
}

std::vector<ViolatingCase> GroupCases() {
  const std::string reduce = "f32[8,4] all-reduce(x), to_apply=add, ";
  const std::string gather = "f32[16,4] all-gather(x), dimensions={0}, ";
  return {
      {"C1", reduce + "replica_groups={{0,1},{1,2}}",
       "device groups: found {0,1,1,2}, expected ids of 0 or more, each in one group"},
      {"C1", gather + "replica_groups={{0,1},{-1,2}}", "found {0,1,-1,2}"},
      {"C1", reduce + "replica_groups={{},{0}}", "device group: found {}, expected at least one device"},
      {"C1", "f32[8,4] all-reduce-start(x), to_apply=add, replica_groups={{0,0}}", "found {0,0}"},
      {"C1", "f32[4,4] reduce-scatter(x), to_apply=add, dimensions={0}, replica_groups={{0,0}}",
       "found {0,0}"},
      {"C1", "f32[8,4] all-to-all(x), dimensions={0}, replica_groups={{0,0}}", "found {0,0}"},
      {"C1", "f32[8,4] ragged-all-to-all(x, x, sizes, sizes, sizes, sizes), replica_groups={{0,0}}",
       "found {0,0}"},
      {"C1", "f32[8,4] collective-broadcast(x), replica_groups={{1,1}}", "found {1,1}"},
      {"C1", "(f32[8,4], f32[16,4]) all-gather-start(x), dimensions={0}, replica_groups={{0,0}}",
       "found {0,0}"},
      {"C2", reduce + "replica_groups=[2,2]<=[4]",
       "found [3,2] of {4}, expected as many devices on both sides",
       [](Instruction* it) {
         auto* attrs = it->MutableAttrs();
         if (attrs->has_iota_collective_device_list()) {
           attrs->mutable_iota_collective_device_list()->set_num_replica_groups(3);
         } else {
           auto* iota = attrs->mutable_iota_collective_device_list();
           iota->set_num_replica_groups(3);
           iota->set_num_devices_per_group(2);
           iota->add_iota_reshape_dims(4);
           iota->add_iota_transpose_perm(0);
         }
       }},
      {"C2", reduce + "replica_groups={{0,1}}", "mesh axis of the device groups: found 7, expected one of 1",
       [](Instruction* it) { MeshGroups(it)->mutable_axes(0)->set_mesh_axis_index(7); }},
      {"C2", reduce + "replica_groups={{0,1}}",
       "sub-axis of the device groups: found (3)2, expected factors of the axis size 4",
       [](Instruction* it) {
         auto* part = MeshGroups(it)->mutable_axes(0)->mutable_sub_axis_info();
         part->set_pre_size(3);
         part->set_size(2);
       }},
      {"C2", reduce + "replica_groups={{0,1}}",
       "axes of the device groups: found a twice, expected distinct ones",
       [](Instruction* it) { MeshGroups(it)->add_axes()->set_mesh_axis_index(0); }},
      {"C2", reduce + "replica_groups={{0,1}}",
       "the mesh of the device groups: found axes {4} of 2 listed devices, expected as many distinct devices",
       [](Instruction* it) {
         auto* groups = MeshGroups(it);
         for (const int id : {0, 1}) groups->mutable_mesh()->add_device_ids(id);
       }},
      {"C3", gather + "replica_groups={{0,1},{2}}",
       "device groups: found different sizes, expected equal sizes"},
      {"C4", reduce + "replica_groups={{0,1}}, use_global_device_ids=true",
       "use_global_device_ids: found no channel_id, expected channel_id and groups"},
      {"C4", reduce + "channel_id=1, replica_groups={}, use_global_device_ids=true", "found no groups"},
      {"C5", reduce + "channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true",
       "device groups: found 2 ids, the last one 1, expected each of 0 .. 3", nullptr, kFour},
      {"C5", reduce + "channel_id=1, replica_groups={{0,1,2,4}}, use_global_device_ids=true",
       "found 4 ids, the last one 4", nullptr, kFour},
      {"C5", reduce + "replica_groups={{0,1,2}}", "expected each of 0 .. 1", nullptr,
       "HloModule m, replica_count=2"},
      {"C5", "f32[8,4] collective-broadcast(x), channel_id=1, replica_groups={{0,7}}", "the last one 7",
       nullptr, kFour},
  };
}

std::vector<ViolatingCase> ReductionCases() {
  const std::string scatter = "f32[4,4] reduce-scatter(x), replica_groups={{0,1}}, ";
  const std::string start = " all-gather-start(x), replica_groups={{0,1}}, dimensions={0}";
  return {
      {"C6", "s32[8,4] all-reduce(n), replica_groups={}, to_apply=ge",
       "parameter 0 of reducer ge: found f32[], expected s32[]"},
      {"C6", "(f32[8,4], s32[8,4]) all-reduce(x, n), replica_groups={}, to_apply=add",
       "the types of the operands: found f32 and s32"},
      {"C6", "f32[8,4] all-reduce-start(x), replica_groups={}, to_apply=ge",
       "result of reducer ge: found pred[]"},
      {"C6", "f32[16,4] all-gather(x), replica_groups={{0,1}}, dimensions={2}", "dimension: found 2"},
      {"C6", "f32[16,4] all-gather(x), replica_groups={{0,1}}, dimensions={0,1}",
       "found {0,1}, expected exactly one"},
      {"C7", "f32[24,4] all-gather(x), replica_groups={{0,1}}, dimensions={0}",
       "result 0 of f32[8,4]: found f32[24,4], expected dimension 0 multiplied by the group size 2"},
      {"C7", "f32[12,4] all-gather(x), replica_groups={}, dimensions={0}", "multiplied by the group size"},
      {"C7", "(f32[16,4]) all-gather(x, x), replica_groups={{0,1}}, dimensions={0}", "found (f32[16,4])"},
      {"C7", "(f32[8,4], f32[24,4])" + start, "found f32[24,4]"},
      {"C8", "f32[16,4]" + start, "the state: found f32[16,4], expected (operands, results)"},
      {"C8", "(f32[4,8], f32[16,4])" + start, "the state: found (f32[4,8], f32[16,4])"},
      {"C6", scatter + "dimensions={-1}, to_apply=add", "dimension: found -1"},
      {"C7", "f32[5,4] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add",
       "found f32[5,4], expected dimension 0 divided by the group size 2"},
      {"C8", scatter + "dimensions={0}, to_apply=ge", "result of reducer ge: found pred[], expected f32[]"},
  };
}

std::vector<ViolatingCase> ExchangeCases() {
  const std::string ragged = " ragged-all-to-all(", groups = ", replica_groups={{0,1}}";
  return {
      {"C6", "f32[8,4] all-to-all(x), dimensions={2}" + groups, "dimension: found 2"},
      {"C6", "f32[8,4] all-to-all(x, x), dimensions={0}" + groups,
       "operands of the array form: found 2, expected one"},
      {"C7", "f32[8,4] all-to-all(x), replica_groups={{0,1,2}}, dimensions={0}",
       "dimension 0: found f32[8,4], expected a multiple of the group size 3"},
      {"C8", "(f32[8,4], f32[8]) all-to-all(x, v)" + groups, "operand 1: found f32[8], expected f32[8,4]"},
      {"C9", "(f32[8], f32[8], f32[8]) all-to-all(v, v, v)" + groups,
       "operands of the tuple form: found 3, expected the group size 2"},
      {"C6", "f32[8]" + ragged + "x, v, sizes, sizes, sizes, sizes)" + groups,
       "the output: found f32[8], expected f32[8,4] but for dimension 0"},
      {"C6", "s32[8,4]" + ragged + "x, n, sizes, sizes, sizes, sizes)" + groups, "found s32[8,4]"},
      {"C7", "f32[8,4]" + ragged + "x, x, sizes, v, sizes, sizes)" + groups, "operand 3: found f32[8]"},
      {"C7", "f32[8,4]" + ragged + "x, x, sizes, sizes, sizes, idx)" + groups, "operand 5: found s32[3,1]"},
      {"C8", "f32[8,4]" + ragged + "x, x, sizes, sizes, sizes, sizes), replica_groups={{0,1,2}}",
       "operand 2: found s32[2], expected leading size 3, the group size"},
  };
}

std::vector<ViolatingCase> PermuteCases() {
  const std::string permute = "f32[8,4] collective-permute(x), source_target_pairs=";
  const std::string sliced = "st = (s32[], s32[]) tuple(i, i)\nf32[8,4] collective-permute(x, x, st, st), ";
  return {
      {"C1", permute + "{{-1,0}}", "pair: found {-1,0}, expected ids of 0 or more"},
      {"C2", permute + "{{0,1},{0,2}}", "pair: found {0,2}, expected distinct sources"},
      {"C3", permute + "{{0,1},{2,1}}", "pair: found {2,1}, expected distinct targets"},
      {"C4", permute + "{{0,7}}, channel_id=1", "pair: found {0,7}, expected ids of 0 .. 3", nullptr, kFour},
      {"C5", sliced + "source_target_pairs={{0,1}}, slice_sizes={{9,4}}",
       "blocks of the sliced form: found sizes {9,4}"},
      {"C5", sliced + "source_target_pairs={{0,1}}, slice_sizes={{2}}", "found sizes {2}"},
      {"C5", "f32[8,4] collective-permute(x, x), source_target_pairs={{0,1}}, slice_sizes={{2,2}}",
       "operands of the sliced form: found 2, expected 4"},
      {"C6", "f32[8,4] collective-permute-start(x), source_target_pairs={{0,1}}",
       "the state: found f32[8,4], expected (operand, f32[8,4], ..)"},
      {"C6", "(f32[8,4], f32[8]) collective-permute-start(x), source_target_pairs={{0,1}}",
       "found (f32[8,4], f32[8])"},
      {"C1", "f32[8,4] all-gather-done(x)",
       "operand 0: found f32[8,4], expected a state (operand, result, ..)"},
      {"C1", "f32[8,4] collective-permute-done(x)", "operand 0: found f32[8,4], expected a state"},
      {"C1", "f32[8,4] all-reduce-done(tok)",
       "operand 0: found token[], expected an array or a tuple of arrays"},
  };
}

}  // namespace

std::vector<ViolatingCase> CollectivesCases() {
  return Joined({GroupCases(), ReductionCases(), ExchangeCases(), PermuteCases()});
}

}  // namespace toroid
