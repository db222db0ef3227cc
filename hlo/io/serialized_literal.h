// Literals as XLA streams them behind an unoptimized snapshot: LiteralBase::Serialize.
//
//   8 bytes   size of the ShapeProto, little endian
//   ...       the ShapeProto
//   for each array, in the order of tuples read from left to right:
//     4 bytes each   the sizes at run time, one per dimension, only of dynamic shapes
//     ...            the elements in the order of the layout, little endian; types of 1, 2 and 4 bits (pred has 1)
//                    packed into bytes from the low bits on
// Example: pred[3] {1, 0, 1} ends in the one byte 0x05, s4[3] {1, 2, 3} in 0x21 0x03.
#ifndef TOROID_HLO_IO_SERIALIZED_LITERAL_H_
#define TOROID_HLO_IO_SERIALIZED_LITERAL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/literal.h"

namespace toroid {

// Errors: kInvalidArgument for tokens, which have no such form.
absl::Status AppendSerializedLiteral(const Literal& literal, std::string* out);

// Reads one literal and steps over it. An array that is shorter at run time than its shape allows gets the
// shape that it has. Memory stays in proportion to the bytes.
// Errors: kInvalidArgument for bytes that end early, and for shapes that have no elements.
absl::StatusOr<Literal> TakeSerializedLiteral(absl::string_view* bytes);

}  // namespace toroid

#endif  // TOROID_HLO_IO_SERIALIZED_LITERAL_H_
