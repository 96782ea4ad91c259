# frozen_string_literal: true

require_relative "../../support/solid_queue_program"

# A worker stops while its jobs are in each state: none is lost, none that has come to its end runs again, and another
# worker does the rest.
class SolidQueueStopsTest < PeltonTest
  include SolidQueueProgram

  self.deadline = 120

  PROGRAM = <<~RUBY
    require "pelton/http"
    SolidQueue.shutdown_timeout = 0.2
    $first = true
    class OwnJob < ActiveJob::Base
      def compute = (till = Pelton::Clock.now + 0.6) && (nil until Pelton::Clock.now > till)
      def ended = Mark.create!(text: "ended")
    end
    def executions
      counts = [SolidQueue::ClaimedExecution, SolidQueue::ReadyExecution, SolidQueue::FailedExecution].map(&:count)
      format("%d claimed, %d ready, %d failed", *counts)
    end
    # The first worker stops when the block is true. It polls once: in a job's transaction SQLite's lock is taken.
    def stop_when(&block)
      worker = SolidQueue::Worker.new(queues: "*", fibers: 5, polling_interval: 600).tap { |one| one.mode = :async }
      worker.start
      wait_until(&block)
      worker.stop
      puts executions
      $first = false
      with_worker(fibers: 5) { wait_until { all_done? } }
      puts "\#{Mark.where(text: "ended").count} ended, \#{SolidQueue::Job.finished.count} finished, \#{executions}"
    end
  RUBY
  RELEASED = "0 claimed, 1 ready, 0 failed"
  DONE = "1 ended, 1 finished, 0 claimed, 0 ready, 0 failed"

  def test_waiting_for_its_upstream
    assert_equal [RELEASED, DONE], lines(<<~RUBY)
      SERVER = TCPServer.new("127.0.0.1", 0)
      class WaitingJob < OwnJob
        def perform
          Mark.create!(text: "began")
          Pelton::HTTP.get("http://127.0.0.1:\#{SERVER.local_address.ip_port}/") if $first
          ended
        end
      end
      WaitingJob.perform_later
      stop_when { Mark.any? }
    RUBY
  end

  # It is over before it can be cancelled, or where it waits next.
  def test_computing
    assert_equal DONE, lines(<<~RUBY).last
      class ComputingJob < OwnJob
        def perform
          Mark.create!(text: "began")
          compute if $first
          ended
        end
      end
      ComputingJob.perform_later
      stop_when { Mark.any? }
    RUBY
  end

  def test_within_a_transaction
    assert_equal [RELEASED, DONE], lines(<<~RUBY)
      class TransactionJob < OwnJob
        def perform
          Mark.transaction do
            ended
            $inside = true
            sleep if $first
          end
        end
      end
      TransactionJob.perform_later
      stop_when { $inside }
    RUBY
  end

  def test_being_claimed
    assert_equal DONE, lines(<<~RUBY).last
      class QuickJob < OwnJob
        def perform = ended
      end
      SolidQueue::ReadyExecution.singleton_class.prepend(Module.new do
        def claim(...) = super.tap { |claimed| ($claimed = true) && sleep(0.3) if claimed.any? && $first }
      end)
      QuickJob.perform_later
      stop_when { $claimed }
    RUBY
  end

  # Claimed with the first one, which does not let others begin.
  def test_not_begun
    assert_equal "4 ended, 5 finished, 0 claimed, 0 ready, 0 failed", lines(<<~RUBY).last
      class BlockingJob < OwnJob
        def perform
          Mark.create!(text: "began")
          compute if $first
        end
      end
      class QuickJob < OwnJob
        def perform = ended
      end
      BlockingJob.perform_later
      4.times { QuickJob.perform_later }
      stop_when { Mark.any? }
    RUBY
  end

  # It has come to its end, so it is not for another worker.
  def test_being_recorded
    assert_equal ["0 claimed, 0 ready, 0 failed", DONE], lines(<<~RUBY)
      class QuickJob < OwnJob
        def perform = ended
      end
      SolidQueue::Job # loads it
      SolidQueue::Job.prepend(Module.new do
        def finished!
          ($recording = true) && sleep(0.5) if $first && !$recording
          super
        end
      end)
      QuickJob.perform_later
      stop_when { $recording }
    RUBY
  end

  private

  def lines(code) = jobs_output(PROGRAM + code).lines(chomp: true)
end
