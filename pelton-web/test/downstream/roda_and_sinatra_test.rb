# frozen_string_literal: true

require_relative "../support/web_program"

# Fragments, streams and deadlines in applications of other frameworks.
class WebRodaAndSinatraTest < PeltonTest
  include WebProgram

  FILES =
    {"views/page.erb" => '<h1><%= name %></h1><%= fragment("list") { RENDERED << name; "<li>x</li>" * 500 } %>'}.freeze
  QUERY = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

  RODA = <<~RUBY
    require "roda"

    class Shop < Roda
      plugin :render
      plugin :pelton_fragments
      plugin :pelton_stream
      plugin :pelton_deadline, 0.3

      route do |r|
        r.get("page", String) { |name| view("page", locals: {name: name}, layout: false) }
        r.get("stream") { stream { |out| EVENTS.call(out) } }
        r.get("query") { DB.fetch(#{QUERY.inspect}).all.to_s }
      end
    end
  RUBY

  SINATRA = <<~RUBY
    require "sinatra/base"
    require "pelton/web/stream"
    require "pelton/web/middleware/deadline"
    require "pelton/web/fragments/pages"

    class Shop < Sinatra::Base
      set :environment, :production
      set :views, "views"
      use Pelton::Web::Deadline, 0.3
      use Pelton::Web::Fragments::Pages
      helpers Pelton::Web::Fragments::Helper

      get("/page/:name") { erb :page, locals: {name: params[:name]} }
      get("/stream") do
        [200, {"content-type" => "text/plain"}, Pelton::Web::Stream.new(env) { |out| EVENTS.call(out) }]
      end
      get("/query") { DB.fetch(#{QUERY.inspect}).all.to_s }
    end
  RUBY

  PROGRAM = <<~RUBY
    require "pelton/sequel"
    DB = Pelton::Sequel.connect("sqlite::memory:")
    RENDERED = []
    ENDED = Pelton::Operation.new
    EVENTS = lambda do |out|
      out << "begun"
      sleep
    ensure
      ENDED.succeed("the stream has ended")
    end
    APPLICATION

    Pelton.run do
      server = Pelton::HTTP::Server.new(Shop)
      url = "http://127.0.0.1:\#{server.listen("tcp://127.0.0.1:0").port}"
      one = Pelton::HTTP.get("\#{url}/page/one")
      two = Pelton::HTTP.get("\#{url}/page/two")
      p [one, two].map { |page| [page.body.to_s[/<h1>.*?<li>x/], page.body.to_s.bytesize] }, RENDERED
      p Pelton::HTTP.get("\#{url}/page/one", headers: {"if-none-match" => one["etag"]}).status
      p Pelton::HTTP.get("\#{url}/query").status

      socket = TCPSocket.new("127.0.0.1", server.listeners.first.port)
      socket.write("GET /stream HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
      sleep 0.01 until socket.readpartial(1000).include?("begun")
      socket.close
      puts ENDED.await(timeout: 10)
    ensure
      server&.stop(timeout: 5)
    end
  RUBY

  {"roda" => RODA, "sinatra" => SINATRA}.each do |name, application|
    define_method(:"test_#{name}") do
      pages, rendered, again, query, stream = web_output(PROGRAM.sub("APPLICATION") { application },
        files: FILES).lines.map(&:chomp)

      assert_equal '[["<h1>one</h1><li>x", 5012], ["<h1>two</h1><li>x", 5012]]', pages
      assert_equal '["one"]', rendered, "the fragment is kept"
      assert_equal %w[304 503], [again, query]
      assert_equal "the stream has ended", stream
    end
  end
end
