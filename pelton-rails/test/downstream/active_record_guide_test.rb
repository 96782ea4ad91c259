# frozen_string_literal: true

require "json"
require_relative "../../../test/support/example_programs"
require_relative "../support/active_record_program"

# The examples of docs/guides/active_record.md.
class ActiveRecordGuideTest < PeltonTest
  include ActiveRecordProgram

  EXAMPLES = ExamplePrograms.examples(File.read(File.join(ROOT, "docs/guides/active_record.md"), encoding: "UTF-8"))
  MODELS = EXAMPLES.first.code
  APPLICATIONS, PROGRAMS = EXAMPLES.drop(1).partition { |example| example.code.start_with?("# config.ru") }

  SETUP = <<~'RUBY'
    require "bundler/setup"
    require "json"
    ARGV.shift
    models, CODE = JSON.parse(ARGV.shift)
    File.write("models.rb", models)
    def check(actual, expected) = actual == expected || abort("#{actual.inspect} instead of #{expected.inspect}")
  RUBY

  # More requests at once than the pool has connections.
  SERVE = <<~'RUBY'
    require "pelton/http"
    require "rack/builder"
    File.write("config.ru", CODE)
    application = Rack::Builder.parse_file("config.ru").then { |built| built.is_a?(Array) ? built.first : built }
    Pelton.run do
      server = Pelton::HTTP::Server.new(application)
      url = "http://127.0.0.1:#{server.listen("tcp://127.0.0.1:0").port}/posts"
      puts Pelton.map(1..30) { Pelton::HTTP.get(url).then { |response| "#{response.status} #{response.body}" } }.uniq
      server.stop
    end
    puts ActiveRecord::Base.connection_pool.stat[:busy], defined?(Rails::Railtie).inspect
  RUBY

  def test_each_framework_has_an_example
    assert_equal 5, APPLICATIONS.size
    assert_equal %w[sinatra/base roda grape pelton/web],
      APPLICATIONS.filter_map { |example| example.code[/^require "(.*)"/, 1] }
  end

  APPLICATIONS.each do |example|
    define_method("test_the_application_of_line_#{example.line}") do
      assert_equal "200 First, Second\n0\nnil\n", run_example(SERVE, example.code)
    end
  end

  PROGRAMS.each do |example|
    define_method("test_the_program_of_line_#{example.line}") do
      assert_empty run_example('File.write("app.rb", CODE) && load("./app.rb")',
        example.code.gsub(/^( *)(\S.*?) +# => (.+)$/) { "#{$1}check((#{$2}), (#{$3}))" })
    end
  end

  private

  def run_example(program, code) = active_record_output(program, :sqlite, JSON.generate([MODELS, code]), setup: SETUP)
end
