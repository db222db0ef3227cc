// infeed and outfeed, send and recv.
//
// infeed takes the next values of RunOptions::infeed, one per array of its data; outfeed appends the arrays
// it gets. A value with the array's sizes is the same on every device; a value with a leading dimension of
// the number of devices gives each device its own entry. A value of another type of the same kind (integers,
// floats, complex numbers) is converted.
//
// send and recv with is_host_transfer are an outfeed and an infeed. Others are messages between devices:
// frontend attribute _xla_send_recv_source_target_pairs="{{0,1},{1,2}}" names senders and receivers, as in
// collective-permute (partitions, or replicas if there is one partition); without it each device sends to
// itself. Messages of a channel are delivered in the order they were sent, at recv-done, which may be in
// another computation than its recv. A device that nobody sends to receives zeros.
//
// Errors: kInvalidArgument "infeed 3: ..." if values are missing or do not fit, or if a recv-done runs before
// the send it waits for.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteInfeed(OpCall& call);
absl::Status ExecuteOutfeed(OpCall& call);
absl::Status ExecuteSend(OpCall& call);
absl::Status ExecuteSendDone(OpCall& call);
absl::Status ExecuteRecv(OpCall& call);
absl::Status ExecuteRecvDone(OpCall& call);

}  // namespace toroid
