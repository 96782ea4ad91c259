# frozen_string_literal: true

require_relative "../../support/active_record_program"

class ConnectionManagementTest < PeltonTest
  include ActiveRecordProgram

  APPLICATION = <<~RUBY
    require "rack"
    ActiveRecord::Base.lease_connection.create_table(:posts, force: true) { |table| table.string :title }
    class Post < ActiveRecord::Base; end
    POOL = Post.connection_pool
    ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
    def managed(&app) = Pelton::ActiveRecord::ConnectionManagement.new(app)
    def busy = POOL.stat[:busy]
  RUBY

  def test_connections_are_returned_when_the_body_is_closed
    assert_equal "1\n1\n0\n", active_record_output(<<~RUBY)
      #{APPLICATION}
      _, _, body = managed { |env| Post.lease_connection && [200, {}, ["\#{POOL.query_cache_enabled}"]] }.call({})
      puts busy
      body.each { |part| part == "true" and puts busy }
      body.close
      puts busy
    RUBY
  end

  def test_connections_are_returned_when_the_application_raises
    assert_equal "[RuntimeError, 0]\n", active_record_output(<<~RUBY)
      #{APPLICATION}
      begin
        managed { |env| Post.lease_connection && raise("wrong") }.call({})
      rescue => error
        p [error.class, busy]
      end
    RUBY
  end

  def test_requests_of_a_server_that_outnumber_the_pool
    assert_equal "[[\"200 1\"], 0]\n", active_record_output(<<~RUBY, pool: 2)
      require "pelton/http"
      #{APPLICATION}
      Post.create!(title: "one")
      ActiveRecord::Base.connection_handler.clear_active_connections!(:all)
      Pelton.run do
        app = managed { |env| Post.lease_connection && sleep(0.001) && [200, {}, [Post.count.to_s]] }
        server = Pelton::HTTP::Server.new(app)
        url = "http://127.0.0.1:\#{server.listen("tcp://127.0.0.1:0").port}/"
        answers = Pelton.map(1..20) do
          Pelton::HTTP.get(url).then { |response| "\#{response.status} \#{response.body}" }
        end
        server.stop
        p [answers.uniq, busy]
      end
    RUBY
  end
end
