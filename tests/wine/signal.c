/* Windows tells the handler of a signal by `signal(number, SIG_GET)`; Wine 8 takes SIG_GET for a handler. */
typedef void (*handler)(int);
handler __real_signal(int number, handler wanted);

handler __wrap_signal(int number, handler wanted) {
  if (wanted != (handler)2) return __real_signal(number, wanted);
  handler found = __real_signal(number, 0);
  __real_signal(number, found);
  return found;
}
