// Finds out by trying how far the project supports each opcode.
//
// Every opcode has a sample program with a known result (tests/runtime/kernels/op_programs.cc) and, in the
// tables of violated constraints, an instruction that the verifier refuses. The probes use these, so nothing
// is listed by hand.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace toroid {

struct OpStatus {
  std::string opcode;
  // kYes or kNo.
  std::string read, print, infer, verify, execute;
  // kYes or kNothing.
  std::string rule;
  // kYes, kSome, kWhole, kNothing or kNo.
  std::string partition;
  // The cuts of the sample for which the op runs on whole arrays: "f32[4,6], dimension 1".
  std::vector<std::string> whole_cuts;
  // The reason for each kNo, one line each.
  std::vector<std::string> failures;
};

inline constexpr char kYes[] = "yes";
inline constexpr char kNo[] = "no";
inline constexpr char kSome[] = "some";
inline constexpr char kWhole[] = "whole";
inline constexpr char kNothing[] = "—";

// One entry per opcode, in the order of the table.
std::vector<OpStatus> ProbeOpcodes();

// By opcode: the reason why the op runs on whole arrays for `whole_cuts`.
const std::map<std::string, std::string>& WhyWhole();

// The text of docs/op_status.md.
std::string StatusPage(const std::vector<OpStatus>& statuses);

}  // namespace toroid
