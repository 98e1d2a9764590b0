// passthru: a CNI plugin that does nothing, for chains that need a first plugin (02, 3.9; 03, 9.3).

#include "passthru/passthru.h"
#include "skel/skel.h"

int main() { return mnet::passthru::run(mnet::skel::Front::of_process()); }
