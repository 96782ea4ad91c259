# frozen_string_literal: true

# Answers with twelve bytes; at /busy after a millisecond of CPU time.
work = lambda do
  finish = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.001
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < finish
end

run lambda { |env|
  work.call if env["PATH_INFO"] == "/busy"
  [200, {"content-type" => "text/plain", "content-length" => "12"}, ["Hello World!"]]
}
