# frozen_string_literal: true

require_relative "../../support/solid_queue_program"

# Jobs whose upstream is faulty, and jobs that are faulty themselves: each ends, its failure is kept, and the worker
# goes on.
class SolidQueueJobFaultsTest < PeltonTest
  include SolidQueueProgram

  self.deadline = 120

  # A server whose answer to each connection is the block's; `$sent` counts the bytes.
  UPSTREAM = <<~RUBY
    require "pelton/http"
    SolidQueue.shutdown_timeout = 0.2
    $sent = 0
    EVENTS = "HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\nConnection: close\\r\\n\\r\\n"
    def upstream
      server = TCPServer.new("127.0.0.1", 0)
      Thread.new do
        loop do
          Thread.new(server.accept) do |socket|
            socket.readpartial(10_000)
            yield ->(text) { $sent += socket.write(text) }
          rescue SystemCallError
            nil # the client has left
          ensure
            socket.close
          end
        end
      end
      "http://127.0.0.1:\#{server.local_address.ip_port}"
    end
    class StreamJob < ActiveJob::Base
      pelton_timeout 2
      def perform(url, options = {})
        Pelton::HTTP::Client.new(url, **options).get("/", stream: true).each_event do |event|
          Mark.create!(text: event.data)
        end
      end
    end
    class NextJob < ActiveJob::Base
      def perform = Mark.create!(text: "next")
    end
    # The failure of a job, and whether the worker does the next one.
    def failure(job, *arguments)
      job.perform_later(*arguments)
      with_worker(fibers: 5) do
        wait_until { SolidQueue::FailedExecution.any? }
        NextJob.perform_later
        wait_until { Mark.exists?(text: "next") }
      end
      SolidQueue::FailedExecution.first.exception_class
    end
  RUBY

  def test_a_gigabyte_in_one_event
    output = jobs_output(UPSTREAM + <<~RUBY)
      url = upstream do |send|
        send.(EVENTS + "data: ")
        1024.times { send.("x" * (1 << 20)) }
      end
      puts failure(StreamJob, url), $sent < 100 << 20
    RUBY

    assert_equal "Pelton::LimitError\ntrue\n", output
  end

  def test_an_event_that_never_ends
    output = jobs_output(UPSTREAM + <<~RUBY)
      url = upstream do |send|
        send.(EVENTS + "data: ")
        loop { send.("x") && sleep(0.01) }
      end
      puts failure(StreamJob, url)
    RUBY

    assert_equal "Pelton::TimeoutError\n", output
  end

  def test_an_event_that_is_no_text
    output = jobs_output(UPSTREAM + <<~RUBY)
      url = upstream { |send| send.(EVENTS + "data: a\\xFFb\\n\\n".b) }
      StreamJob.perform_later(url)
      with_worker(fibers: 5) { wait_until { all_done? } }
      p Mark.first.text
    RUBY

    assert_equal "\"a\u{FFFD}b\"\n", output
  end

  # An answer of the model's server must not lead into the network of the workers.
  def test_a_redirect_to_an_address_that_is_not_allowed
    output = jobs_output(UPSTREAM + <<~RUBY)
      class CarefulJob < ActiveJob::Base
        def perform(url)
          Pelton::HTTP::Client.new(url, allow: ->(address) { address.to_s == "127.0.0.1" }).get("/", redirects: 3)
        end
      end
      url = upstream do |send|
        place = "http://127.0.0.2:\#{TCPServer.new("127.0.0.2", 0).local_address.ip_port}/"
        send.("HTTP/1.1 302 Found\\r\\nLocation: \#{place}\\r\\nContent-Length: 0\\r\\n\\r\\n")
      end
      puts failure(CarefulJob, url), SolidQueue::FailedExecution.first.message.include?("127.0.0.2")
    RUBY

    assert_equal "Pelton::HTTP::AddressError\ntrue\n", output
  end

  def test_tls_that_breaks
    output = jobs_output(UPSTREAM + <<~RUBY)
      class SecureJob < ActiveJob::Base
        def perform(url) = Pelton::HTTP.get(url)
      end
      url = upstream { |send| send.("this is not TLS") }
      puts failure(SecureJob, url.sub("http:", "https:"))
    RUBY

    assert_equal "Pelton::TLSError\n", output
  end

  def test_a_job_that_forks
    output = jobs_output(UPSTREAM + <<~RUBY)
      class ForkingJob < ActiveJob::Base
        def perform
          reader, writer = IO.pipe
          pid = fork do
            writer.write("child")
            exit!(0)
          end
          writer.close
          Mark.create!(text: reader.read)
          Process.wait(pid)
        end
      end
      3.times { ForkingJob.perform_later }
      NextJob.perform_later
      with_worker(fibers: 5) { wait_until { all_done? } }
      puts Mark.order(:text).pluck(:text)
    RUBY

    assert_equal %w[child child child next], output.split
  end

  # Each job is claimed by one of their workers.
  def test_two_supervisors
    output = jobs_output(<<~RUBY)
      class OnceJob < ActiveJob::Base
        def perform(number) = (sleep(0.01) && Mark.create!(text: number))
      end
      pids = Array.new(2) do
        fork do
          SolidQueue::Supervisor.start(workers: [{queues: "*", fibers: 5, polling_interval: 0.05}],
            dispatchers: [{polling_interval: 0.1}], skip_recurring: true)
          exit!(0)
        end
      end
      wait_until { SolidQueue::Process.where(kind: "Worker").count == 2 }
      60.times { |number| OnceJob.perform_later(number) }
      wait_until { all_done? }
      pids.each { |pid| Process.kill(:TERM, pid) }.each { |pid| Process.wait(pid) }
      puts Mark.count, Mark.distinct.count(:text), SolidQueue::Process.count, SolidQueue::FailedExecution.count
    RUBY

    assert_equal %w[60 60 0 0], output.split
  end

  # Its fiber is given up after the grace time: the worker's process ends, and Solid Queue's supervisor takes care of
  # what was claimed.
  def test_a_job_that_ignores_its_cancellation_does_not_hold_up_the_stop
    output = jobs_output(UPSTREAM + <<~RUBY)
      class StubbornJob < ActiveJob::Base
        def perform
          Mark.create!(text: "began")
          loop do
            sleep
          rescue Exception
            Mark.create!(text: "ignored")
          end
        end
      end
      StubbornJob.perform_later
      with_worker(fibers: 5) { wait_until { Mark.any? } }
      p Mark.distinct.pluck(:text), SolidQueue::Job.finished.count
    RUBY

    assert_equal "[\"began\", \"ignored\"]\n0\n", output
  end
end
