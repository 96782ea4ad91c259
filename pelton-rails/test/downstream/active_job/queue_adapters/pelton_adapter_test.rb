# frozen_string_literal: true

require_relative "../../../support/rails_program"

class PeltonAdapterTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  JOBS = <<~RUBY
    ENV["DATABASE_URL"] = "sqlite3::memory:"
    Pelton.logger = nil
    TestApplication.config.active_job.queue_adapter = :pelton
    TestApplication.initialize!
    class Say < ActiveJob::Base
      def perform(text, pause = 0)
        sleep pause
        SAID << text
        raise "on purpose" if text == "fail"
      end
    end
    SAID = Queue.new
    def said = Array.new(SAID.size) { SAID.pop }
  RUBY

  def test_jobs_run_in_fibers_while_the_process_goes_on
    assert_equal <<~TEXT, rails_output(<<~RUBY, setup: APPLICATION + JOBS)
      before: []
      after: ["slow 0", "slow 1", "slow 2"], jobs left: 0
      later: ["now", "in 0.1 s"]
      an error stops nobody: ["fail", "next"]
    TEXT
      adapter = Say.queue_adapter
      Pelton.run do
        3.times { |number| Say.perform_later("slow \#{number}", 0.05) }
        puts "before: \#{said}"
        sleep 0.01 while adapter.size > 0
        puts "after: \#{said.sort}, jobs left: \#{adapter.size}"
        Say.set(wait: 0.1.seconds).perform_later("in 0.1 s")
        Say.perform_later("now")
        sleep 0.01 while adapter.size > 0
        puts "later: \#{said}"
        Say.perform_later("fail")
        Say.perform_later("next")
        sleep 0.01 while adapter.size > 0
        puts "an error stops nobody: \#{said}"
      end
    RUBY
  end

  # What a job does with its errors is Rails' own; those that it lets through are reported, and logged with its class
  # and id.
  def test_errors_are_retried_and_reported
    assert_equal <<~TEXT, rails_output(<<~RUBY, setup: APPLICATION + JOBS)
      tried 1 2 3, done
      reported: ["on purpose"]
      pelton: job Say (ID): unhandled error
    TEXT
      class Subscriber
        def report(error, handled:, **) = ($reported ||= []) << error.message
      end
      Rails.error.subscribe(Subscriber.new)
      class Flaky < ActiveJob::Base
        retry_on IOError, wait: ->(_executions) { 0.01 }, attempts: 3
        def perform
          SAID << executions
          raise IOError if executions < 3
        end
      end
      Pelton.logger = StringIO.new.tap { |io| LOG = io }
      Pelton.run do
        Flaky.perform_later
        sleep 0.01 while Say.queue_adapter.size > 0
        puts "tried \#{said.join(" ")}, done"
        Say.perform_later("fail")
        sleep 0.01 while Say.queue_adapter.size > 0
      end
      puts "reported: \#{$reported}"
      puts LOG.string.lines.first.sub(/\\h{8}-[-\\h]+/, "ID")
    RUBY
  end

  # By TERM, as systemd and containers stop it, with and without workers.
  def test_a_stop_of_the_server_lets_jobs_end
    [0, 1].each do |workers|
      assert_equal <<~TEXT, rails_output(stop_of_a_server(workers: workers, grace: 30, first: "chain"), setup: "")
        pelton: the process stops and loses: job Work (ID) (its time had not come)
        pelton: job Work (ID) is refused: the server stops: no more work is taken
        all that were accepted have run: true
        status: 0
      TEXT
    end
  end

  def test_what_does_not_end_in_time_is_logged
    assert_equal <<~TEXT, rails_output(stop_of_a_server(workers: 0, grace: 0.2, first: "sleep"), setup: "")
      pelton: the process stops and loses: job Work (ID) (its time had not come)
      pelton: the process stops and loses: job Work (ID) (it had not begun)
      pelton: the process stops and loses: job Work (ID) (it is cancelled)
      all that were accepted have run: false
      status: 0
    TEXT
  end

  def test_both_numbers_are_bounded
    expected =
      /\A\[1, 2\], ActiveJob::EnqueueError: job Say \(\S+\) is refused: 2 pieces of work run or wait: raise concurrency:, or take less\n\z/
    assert_match expected, rails_output(<<~RUBY, setup: APPLICATION + JOBS)
      Say.queue_adapter = ActiveJob::QueueAdapters::PeltonAdapter.new(concurrency: 1, queue: 1)
      Pelton.run do
        Say.perform_later(1, 0.01)
        Say.perform_later(2)
        error = nil
        Say.perform_later(3) { |job| error = job.enqueue_error }
        sleep 0.01 while Say.queue_adapter.size > 0
        puts "\#{said}, \#{error.class}: \#{error.message}"
      end
    RUBY
  end

  def test_threads_take_jobs_where_no_reactor_runs
    assert_equal "text\n", rails_output("Say.perform_later('text')\nputs SAID.pop", setup: APPLICATION + JOBS)
  end

  # Versions of Rails ask for these.
  def test_jobs_wait_for_transactions_and_do_not_stop_early
    assert_equal "[true, false]\n", rails_output(<<~RUBY, setup: APPLICATION + JOBS)
      adapter = Say.queue_adapter
      p [adapter.enqueue_after_transaction_commit?, adapter.stopping?]
    RUBY
  end

  private

  # The program of a server that gets TERM when it has accepted three jobs: one that runs, one that waits for its turn,
  # and one with a later time. "chain" enqueues others until they are refused.
  def stop_of_a_server(workers:, grace:, first:)
    <<~RUBY
      File.write("config.ru", <<~'RACKUP')
        #{APPLICATION.sub("__dir__", "Dir.pwd").gsub("\n", "\n  ")}
        if require "active_job/queue_adapters/pelton_adapter"
          TestApplication.config.active_job.queue_adapter = ActiveJob::QueueAdapters::PeltonAdapter.new(concurrency: 1)
        end
        ENV["DATABASE_URL"] = "sqlite3::memory:"
        TestApplication.initialize!
        class Work < ActiveJob::Base
          def perform(what)
            accepted = 1
            case what
            when "chain"
              accepted += 1 while sleep(0.01) && Work.perform_later("end")
              note "accepted \#{accepted}"
            when "sleep" then sleep
            else note "ended"
            end
          end

          def note(text) = File.write("notes", "\#{text}\\n", mode: "a")
        end
        run ->(env) do
          Work.perform_later(env["PATH_INFO"].delete("/"))
          Work.perform_later("end")
          Work.set(wait: 1.hour).perform_later("end")
          [200, {}, ["enqueued"]]
        end
      RACKUP
      require "net/http"
      File.write("pelton.rb", "workers #{workers}\nshutdown_timeout #{grace}")
      server = IO.popen(["bundle", "exec", "pelton", "serve", "-b", "tcp://127.0.0.1:0", err: [:child, :out]])
      log = []
      begin
        log << server.gets until log.last.to_s =~ %r{(?:listens on|serves) http://[^:]+:(\\d+)} || server.eof?
        Net::HTTP.get("127.0.0.1", "/#{first}", $1.to_i) if $1
      ensure
        Process.kill("TERM", server.pid)
        log.concat(server.readlines)
        server.close
      end
      puts log.grep(/pelton: .*Work/).map { |line| line.gsub(/\\h{8}-[-\\h]+/, "ID") }
      notes = File.exist?("notes") ? File.readlines("notes", chomp: true) : []
      puts "all that were accepted have run: \#{notes.grep(/accepted/) == ["accepted \#{notes.count("ended")}"]}"
      puts "status: \#{$?.exitstatus}"
    RUBY
  end
end
