# frozen_string_literal: true

require_relative "gem_program"

# Programs with WebMock, VCR, Faraday and RSpec, in separate processes. `bin/setup downstream` brings these gems.
module WebMockProgram
  include GemProgram

  GEMS = GemProgram::Gems.new("gemfiles/webmock.rb", folder: "tmp/web")

  SETUP = <<~RUBY
    require "pelton/http"
    require "webmock"
    WebMock.enable!
    include WebMock::API

    def error_of
      yield
      :none
    rescue Exception => error
      error
    end
  RUBY

  # What a program prints, line by line. It runs with WebMock enabled, unless `setup:` is something else.
  def webmock_output(code, *arguments, setup: SETUP, **options)
    program_output(GEMS, "require \"bundler/setup\"\n#{setup}#{code}", *arguments, **options).lines(chomp: true)
  end
end
