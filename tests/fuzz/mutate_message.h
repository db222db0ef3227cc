// Mutations of protocol buffers along their structure: the result is a well-formed message that means
// something else.
#pragma once

#include "google/protobuf/message.h"
#include "tests/fuzz/random_source.h"

namespace toroid {

// Applies one to a few changes somewhere inside `message`: a field set, cleared, or taken from the place of
// the same type in `other`; an element of a list added, removed, repeated or moved; an unknown field added.
// `other` is of the same type.
void MutateMessage(const google::protobuf::Message& other, RandomSource* random,
                   google::protobuf::Message* message);

}  // namespace toroid
