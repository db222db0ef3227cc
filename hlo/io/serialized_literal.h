// Literals in the form of XLA's LiteralBase::Serialize, which follow an unoptimized snapshot as a stream.
//
//   8 bytes   size of the ShapeProto, little endian
//   ...       the ShapeProto
//   for each array, in the order of tuples read from left to right:
//     4 bytes each   the run-time sizes, one per dimension, for dynamic shapes only
//     ...            the elements in the order of the layout, little endian; types of 1, 2 and 4 bits (pred
//                    has 1) are packed into bytes, from the low bits up
// Example: pred[3] {1, 0, 1} ends in the one byte 0x05, s4[3] {1, 2, 3} in 0x21 0x03.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/literal.h"

namespace toroid {

// Errors: kInvalidArgument for tokens, which cannot be serialized.
absl::Status AppendSerializedLiteral(const Literal& literal, std::string* out);

// Reads one literal and removes it from the front of `bytes`. An array of dynamic shape gets its run-time
// sizes as its shape. Memory is proportional to the bytes.
// Errors: kInvalidArgument for bytes that end early, and for shapes that have no elements.
absl::StatusOr<Literal> TakeSerializedLiteral(absl::string_view* bytes);

}  // namespace toroid
