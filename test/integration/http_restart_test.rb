# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/http/serving"

# `pelton serve` under load: whatever happens to its processes, each request that a healthy process has accepted is
# answered.
class HTTPRestartTest < PeltonTest
  include HttpServing

  self.deadline = 120

  def test_a_phased_restart_loses_nothing
    replaced("USR1", workers: 2)
  end

  def test_a_restart_of_the_master_loses_nothing
    replaced("USR2", workers: 2)
  end

  def test_a_phased_restart_of_a_preloaded_application_loses_nothing
    replaced("USR1", workers: 2, setting: "preload true")
  end

  # A server without workers keeps its process id.
  %w[USR1 USR2].each do |signal|
    define_method("test_a_restart_by_#{signal.downcase}_without_workers_loses_nothing") do
      serving_under_load(workers: 0) do |load|
        Process.kill(signal, @master)
        in_time { log.scan("loaded").size == 2 }
        go_on(load)

        assert_nothing_lost(load.stop)
        assert_equal 0, load[:refused]
      end
    end
  end

  def test_more_and_fewer_workers_lose_nothing
    serving_under_load(workers: 1) do |load|
      %w[TTIN TTIN TTOU TTOU].zip([2, 3, 2, 1]) do |signal, count|
        Process.kill(signal, @master)
        in_time { serving.size == count && processes.size == count }
        go_on(load)
      end

      assert_nothing_lost(load.stop)
      assert_equal 0, load[:refused]
    end
  end

  # Clients whose connections are still in the backlog are served, too.
  [2, 0].product(%w[TERM INT]) do |workers, signal|
    define_method("test_#{signal.downcase}_of_#{workers}_workers_loses_nothing") do
      serving_under_load(workers: workers) do |load|
        all = [@master, *serving].uniq
        Process.kill("STOP", *all)
        sleep 0.2 # more clients connect meanwhile
        load.ending
        Process.kill(signal, @master)
        Process.kill("CONT", *all)

        assert_nothing_lost(load.await)
        assert_operator load[:refused], :>, 0
        assert_equal 0, wait_for_the_end.exitstatus
      end
    end
  end

  # Only the requests that the killed worker had accepted fail.
  def test_a_worker_that_is_killed_takes_its_own_requests_alone
    serving_under_load(workers: 2) do |load|
      victim = serving.first
      Process.kill("KILL", victim)
      in_time { serving.then { |now| now.any? && !now.include?(victim) } }
      go_on(load)
      load.stop
      processes = begun

      assert_empty load.lost.reject { |loss| [loss.process, processes[loss.id]].compact.uniq - [victim] == [] }
        .map(&:to_s)
      assert_equal 0, load[:refused]
    end
  end

  private

  def replaced(signal, **options)
    serving_under_load(**options) do |load|
      before = serving
      Process.kill(signal, @master)
      in_time { serving.then { |now| now.any? && (now & before).empty? } && (processes & before).empty? }
      go_on(load)

      assert_nothing_lost(load.stop)
      assert_equal 0, load[:refused]
    end
  end

  def assert_nothing_lost(load)
    assert_empty load.lost.map(&:to_s),
      "#{load[:answered]} requests were answered, #{load[:crossed]} were to be sent again\n#{log}"
  end
end
