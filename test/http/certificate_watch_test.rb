# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require_relative "../test_helper"
require "pelton/http"

class HTTPCertificateWatchTest < PeltonTest
  def setup
    @folder = Dir.mktmpdir
    @path = File.join(@folder, "certificate.pem")
    File.write(@path, "one")
    @changes = 0
    @watch = Pelton::HTTP::CertificateWatch.new([@path], pause: 0.001) { @changes += 1 }
  end

  def teardown = FileUtils.rm_rf(@folder)

  # As certbot does.
  def replace(content)
    File.write("#{@path}.new", content)
    File.rename("#{@path}.new", @path)
  end

  def test_nothing_has_changed
    2.times { @watch.look }

    assert_equal 0, @changes
  end

  def test_a_file_that_was_replaced
    replace("two")
    2.times { @watch.look }

    assert_equal 1, @changes
  end

  def test_a_file_that_was_written
    File.write(@path, "longer than before")
    @watch.look

    assert_equal 1, @changes
  end

  def test_a_file_that_is_gone_for_a_while
    File.delete(@path)
    @watch.look
    File.write(@path, "two")
    @watch.look

    assert_equal 2, @changes
  end

  def test_it_looks_again_and_again
    Pelton.run do
      watching = Pelton.spawn { @watch.run }
      %w[two three].each_with_index do |content, index|
        replace(content * (index + 1))
        sleep 0.001 until @changes == index + 1
      end
      watching.cancel
    end

    assert_equal 2, @changes
  end
end
