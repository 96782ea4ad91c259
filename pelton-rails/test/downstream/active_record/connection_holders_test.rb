# frozen_string_literal: true

require_relative "../../support/rails_program"

class ConnectionHoldersTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  POOL = DATABASE.sub("pool=10", "pool=3&checkout_timeout=0.3")

  def test_who_waits_with_a_connection
    now, later = rails_output(<<~RUBY, setup: APPLICATION + POOL).lines(chomp: true)
      Pelton.run do
        held = %w[report bill].map { |name| Pelton.spawn(name: name) { Post.lease_connection && sleep } }
        idle = Pelton.spawn(name: "report without") { sleep }
        sleep 0.05 until Post.connection_pool.stat[:busy] >= 2
        found = [0, 3600].map { |seconds| Pelton::ActiveRecord::ConnectionHolders.waiting(seconds, /report/) }
        puts found.map { |tasks| tasks.keys.map(&:name).inspect }
        [*held, idle].each(&:cancel)
      end
    RUBY

    assert_equal ['["report"]', "[]"], [now, later]
  end

  def test_the_error_of_the_pool_names_who_holds_its_connections_and_where
    message, report, service, pool, line, then_ = rails_output(<<~'RUBY', setup: APPLICATION + POOL).lines(chomp: true)
      ActiveRecord::Base.connection_handler.clear_active_connections!
      def make_the_report(connection) = connection.select_value("SELECT 1") && sleep
      def call_the_other_service(connection) = sleep
      held = []
      thread = Thread.new { Thread.current.name = "import" and call_the_other_service(Post.lease_connection) }
      Pelton.run do
        held << Pelton.spawn(name: "monthly report") { make_the_report(Post.lease_connection) }
        held << Pelton.spawn { call_the_other_service(Post.lease_connection) }
        sleep 0.05 until Post.connection_pool.stat[:busy] == 3
        begin
          Post.count
        rescue ActiveRecord::ConnectionTimeoutError => error
          puts error.message,
            *%i[make_the_report call_the_other_service].map { |name| method(name).source_location.join(":") },
            error.connection_pool.equal?(Post.connection_pool), error.backtrace.grep(/\A-e:/).any?
        end
        held.each(&:cancel)
      end
      thread.kill.join
      puts Post.count
    RUBY

    assert_match(/\Acould not obtain a connection .*all pooled connections were in use\. Held by /, message)
    assert_match(/ task "monthly report" for \d\.\d{3} s, at #{report}:in /, message)
    assert_equal 2, message.scan(/ (?:fiber \d+|thread "import") for \d\.\d{3} s, at #{service}:in /).size
    assert_equal 2, message.scan("; by ").size
    assert_equal %w[true true 0], [pool, line, then_]
  end
end
