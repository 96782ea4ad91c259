# frozen_string_literal: true

require_relative "../support/rails_program"

# What must stay secret is shown nowhere: test/support/secrets/walk.rb says by what.
class RailsSecretsTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  WALK = File.join(ROOT, "test/support/secrets/walk.rb")
  SETTINGS = <<~RUBY
    require #{WALK.dump}
    require "pelton/http/launcher"
    GC.disable # until all have been looked at
    ERRORS = $stderr
    at_exit { ERRORS.puts $!.full_message if $! && !$!.is_a?(SystemExit) }
    $stderr = Log.new
    Pelton.logger = Logger.new(Log.new)
    Pelton.on_error { |error, *more| Walk.error("on_error", error) || Walk.text("on_error", more.join(" ")) }
    ENV["SECRET_KEY_BASE"] = Walk.mark("base") * 8
    ENV["DATABASE_URL"] =
      "sqlite3:\#{Dir.pwd}/test.sqlite3?timeout=2000&pool=2&checkout_timeout=0.3&password=\#{Walk.mark("database")}"
    TestApplication.config.cache_store = :pelton_store, "127.0.0.1:\#{ARGV.shift}"
    TestApplication.config.active_job.queue_adapter = :pelton
    TestApplication.initialize!
    ActiveRecord::Base.connection.create_table(:posts) { |table| table.string :title }
    class Post < ActiveRecord::Base; end
    class Say < ActiveJob::Base
      def perform(token)
        Walk.objects("job")
        raise ArgumentError, "on purpose" if token.end_with?("fail")
      end
    end
  RUBY

  def test_all_objects
    seen, classes, *found = with_memcached do |port|
      rails_output(<<~RUBY, port, setup: APPLICATION + SETTINGS)
        def hold(token) = Post.lease_connection.select_values(Post.where(title: token).select(:title)) && sleep
        advice = Pelton::Rails::Advice.new(TestApplication.instance)
        ActiveRecord::Base.connection_handler.clear_active_connections!
        Pelton.run do
          %w[job job-fail].each { |name| Say.perform_later(Walk.mark(name)) }
          sleep 0.01 while Say.queue_adapter.size > 0
          attempt("refused job", ActiveJob::EnqueueError) do
            ActiveJob::QueueAdapters::PeltonAdapter.new(queue: 0, concurrency: 1).then do |full|
              2.times { full.enqueue(Say.new(Walk.mark("refused"))) }
            end
          end
          Rails.cache.write("a", Walk.mark("value"))
          Rails.cache.read_multi("a", Walk.mark("key"))
          held = Array.new(2) { Pelton.spawn(name: "report") { hold(Walk.mark("sql")) } }
          sleep 0.05 until Post.connection_pool.stat[:busy] == 2
          attempt("pool", ActiveRecord::ConnectionTimeoutError) { Post.where(title: Walk.mark("late")).to_a }
          Walk.objects("held")
          Pelton.tasks.each { |task| Walk.text("tasks", task.inspect) }
          held.each(&:cancel)
        end
        advice.sentences.each { |sentence| Walk.text("advice", sentence) }
        [Say.queue_adapter, Rails.cache].each do |object|
          Walk.text(object.class, object.inspect + object.pretty_inspect)
        end
        advice.log
        Walk.objects("end")
        puts Walk.seen.keys.grep(/Advice|PeltonStore|PeltonAdapter/).sort.join(" ")
        Walk.report
      RUBY
    end.lines(chomp: true)

    assert_equal "ActiveJob::QueueAdapters::PeltonAdapter ActiveSupport::Cache::PeltonStore Pelton::Rails::Advice", seen
    assert_match(/\A\d+ classes\z/, classes)
    assert_empty found
  end
end
