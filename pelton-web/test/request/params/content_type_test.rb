# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "tempfile"

class WebParamsContentTypeTest < PeltonTest
  PNG = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR".b
  FILES = {
    [PNG, "a.png"] => "image/png", [PNG, "a.html"] => "image/png", [PNG, ""] => "image/png",
    ["\xFF\xD8\xFF\xE0rest".b, "a.gif"] => "image/jpeg", ["%PDF-1.4\n", "a.png"] => "application/pdf",
    ["GIF89a<script>alert(1)</script>", "a.html"] => "image/gif", ["<!DOCTYPE html><p>", "a.png"] => "text/html",
    ["<html><script>", "a.txt"] => "text/html", ["MZ\x90\0".b, "a.png"] => "application/x-msdownload",
    ["PK\x03\x04rest".b, "a.zip"] => "application/zip",
    ["PK\x03\x04rest".b, "a.docx"] => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ["PK\x03\x04rest".b, "a.png"] => "application/zip",
    ["alert(1)", "a.png"] => "application/octet-stream", ["name,price\ntea,3\n", "a.csv"] => "text/csv",
    ["héllo", "a.txt"] => "text/plain", ["a\0b", "a.txt"] => "application/octet-stream",
    ["\xfa\xfb\xfc", "a.csv"] => "application/octet-stream", ["é" * 10_000, "a.txt"] => "text/plain",
    ["a#{"é" * 10_000}", "a.txt"] => "text/plain", ["", "a.png"] => "application/octet-stream",
    ["", "a.txt"] => "text/plain",
    ["x", "../../etc/passwd"] => "application/octet-stream"
  }.freeze

  def test_a_file_is_what_its_bytes_are
    FILES.each { |(bytes, name), type| assert_equal type, type_of(bytes, name), "#{name} #{bytes[0, 20].inspect}" }
  end

  def test_the_gem_is_named_where_it_is_missing
    without = <<~RUBY
      require "pelton/web"
      module Kernel
        alias_method :required, :require
        def require(name) = (name == "marcel") ? raise(LoadError, "cannot load such file -- marcel") : required(name)
      end
      begin
        Pelton::Web::Params::Upload.new({tempfile: File.open("/dev/null"), filename: "x"}).type
      rescue Pelton::Web::ConfigurationError => error
        puts error.message
      end
    RUBY

    assert_match(/add gem "marcel" to the Gemfile/, ruby_output(without, gems: true))
  end

  private

  def type_of(bytes, name)
    file = Tempfile.new(binmode: true)
    file.write(bytes)
    file.flush
    Pelton::Web::Params::Upload.new({tempfile: file, filename: name, type: "image/png"}).type
  ensure
    file&.close!
  end
end
