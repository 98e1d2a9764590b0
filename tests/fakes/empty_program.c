// Does nothing: what any static program costs, as a base for what ours cost (scripts/bench).
int main(void) { return 0; }
