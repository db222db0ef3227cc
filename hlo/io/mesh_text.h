// Meshes and their axes in HLO text, as shardings and device groups spell them:
//
//   mesh['x'=2,'y'=4]                          devices 0..7 in row-major order
//   mesh['x'=2,'y'=4], device_ids=(1,0,...)    an explicit order
//   mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0))  0..7 in shape [4,2], transposed, read row-major
//   {'x','y':(1)2}                             axes, major to minor; (1)2: a sub-axis: pre-size 1, size 2
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/repeated_field.h"
#include "hlo/io/text_scanner.h"
#include "hlo/proto/xla_data.pb.h"

namespace toroid {

// True if a mesh comes next.
bool AtMesh(TextScanner* scanner);

// Errors: kInvalidArgument for repeated axis names, sizes below 1, more than kMaxDevices devices, device
// orders of another length than the mesh.
absl::Status ParseMesh(TextScanner* scanner, xla::MeshProto* mesh);
std::string MeshToString(const xla::MeshProto& mesh);

// One quoted axis of `mesh`, with its sub-axis.
absl::Status ParseAxis(const xla::MeshProto& mesh, TextScanner* scanner, xla::AxisRefProto* axis);
std::string AxisToString(const xla::MeshProto& mesh, const xla::AxisRefProto& axis);

using AxisRefs = google::protobuf::RepeatedPtrField<xla::AxisRefProto>;
// A braced list of axes.
absl::Status ParseAxes(const xla::MeshProto& mesh, TextScanner* scanner, AxisRefs* axes);
std::string AxesToString(const xla::MeshProto& mesh, const AxisRefs& axes);

// An iota: `[4,2]` or `[4,2]T(1,0)`. `dims` and `permutation` have the same length. Errors: more than
// kMaxDevices elements.
absl::Status ParseIota(TextScanner* scanner, std::vector<int64_t>* dims, std::vector<int64_t>* permutation);

// The product of the sizes. Errors: kInvalidArgument unless they are positive and the product is at most
// kMaxDevices.
absl::StatusOr<int64_t> DeviceCount(const std::vector<int64_t>& dims, TextScanner* scanner);

}  // namespace toroid
