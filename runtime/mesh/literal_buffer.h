// Literals as buffers of a mesh, and back.
#pragma once

#include "absl/status/status.h"
#include "hlo/ir/literal.h"
#include "runtime/mesh/mesh_buffer.h"

namespace toroid {

// A uniform buffer (for a tuple, of uniform elements) with a copy of the literal's elements.
// Errors: kResourceExhausted.
absl::Status BufferFromLiteral(const Literal& literal, MeshBuffer* buffer);

// The value of one row; `copies` is the number of rows of non-uniform arrays. An array with dynamic
// dimensions gives its valid part, as a static shape.
Literal LiteralFromBuffer(const MeshBuffer& buffer, const Shape& shape, int64_t row, int64_t copies);

}  // namespace toroid
