# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"
require "pelton/http/spawned_figures"

# In a program of its own, since it changes the class of tasks for good.
class HTTPSpawnedFiguresTest < PeltonTest
  PROGRAM = <<~RUBY
    require "pelton/http"
    Pelton::Task.singleton_class.prepend(Pelton::HTTP::SpawnedFigures)
    key = Pelton::HTTP::SpawnedFigures::KEY
    figures = -> { Thread.current[key] }

    Pelton.run do
      Thread.current[key] = :request
      task = Pelton.spawn { [figures.call, Pelton.spawn { sleep(0.001) && figures.call }.await, Pelton.map([1, 2]) { figures.call }] }
      named = Pelton.spawn(name: "named", detached: true) { figures.call }
      puts task.origin
      p task.await, named.await
      failed = Pelton.spawn { raise "on purpose" }
      begin
        failed.await
      rescue => error
        puts error.message
      end
      Thread.current[key] = nil
      p Array.new(5) { Pelton.spawn { figures.call }.await } # on the fibers of the tasks before
    end
  RUBY

  def test_tasks_have_the_figures_of_the_code_that_has_spawned_them
    origin, task, named, failed, others = ruby_output(PROGRAM).lines.map(&:chomp)

    assert_equal "-e:8", origin
    assert_equal ["[:request, :request, [:request, :request]]", ":request"], [task, named]
    assert_equal "on purpose", failed
    assert_equal "[nil, nil, nil, nil, nil]", others
  end
end
