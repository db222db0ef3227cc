// Makes moves of the steps of a plan that only move elements.
#pragma once

#include "runtime/plan/plan.h"

namespace toroid {

// A step whose result only moves read goes; its readers read what it would have read.
void FormMoves(Plan& plan);

}  // namespace toroid
