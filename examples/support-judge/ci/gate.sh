#!/bin/sh
# Gates the judge from its recordings, and says in a line what the exit code means. Needs no key and no network.
pytest tests/judge -k "cue or position" --judge-report report
code=$?
# A judge or a test that ends the process has exit code 0 and leaves no report.
if [ $code -eq 0 ]; then judgefixtures report check report; code=$?; fi
case $code in
  0) echo "judge gate: passed" ;;
  1) echo "judge gate: failed, or the pairs cannot tell; report/report.html has the pairs" >&2 ;;
  10) echo "judge gate: not measured; record what is named above, and commit cassettes/" >&2 ;;
  5 | 11) echo "judge gate: nothing was decided; what is selected is named above" >&2 ;;
  *) echo "judge gate: pytest ended with $code; the mistake is named above" >&2 ;;
esac
exit $code
