# frozen_string_literal: true

require_relative "../support/rails_program"

# Which files the server sends in Rails' place.
class RailsPublicFilesTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  # @param settings [String, nil] of the server that loads the application; nil: another program loads it
  # @param before [String] what the folder has beside
  # @return [Array] whether Rails sends files, and the header by which it leaves them to the server
  def sent_by_rails(settings, before = "", setup: "")
    rails_output(<<~RUBY).lines.map(&:chomp)
      require "fileutils"
      require "pelton/http/configuration"
      FileUtils.mkdir_p(%w[public/assets files])
      File.write("public/robots.txt", "")
      #{before}
      settings = #{settings.inspect}
      if settings
        Pelton::HTTP.configuration = Pelton::HTTP::Configuration.new.tap { |one| one.instance_eval(settings) }
      end
      TestApplication.config.public_file_server.enabled = true
      #{setup}
      TestApplication.initialize!
      puts Rails.application.middleware.map(&:name).include?("ActionDispatch::Static")
      puts Rails.application.config.action_dispatch.x_sendfile_header.inspect
    RUBY
  end

  def test_the_server_sends_both
    assert_equal ["false", "\"X-Sendfile\""], sent_by_rails("public \"public\"\nx_sendfile \"files\"")
  end

  def test_the_server_sends_neither
    assert_equal ["true", "nil"], sent_by_rails("quiet true")
  end

  def test_another_server
    assert_equal ["true", "nil"], sent_by_rails(nil)
  end

  def test_another_folder
    assert_equal ["true", "nil"], sent_by_rails("public \"files\"")
  end

  def test_a_folder_with_links_that_lead_out
    assert_equal ["true", "nil"], sent_by_rails("public \"public\"", 'File.symlink("../files", "public/system")')
    assert_equal ["true", "nil"],
      sent_by_rails("public \"public\"", 'File.symlink(File.expand_path("files"), "public/system")')
  end

  def test_links_within_the_folder
    assert_equal ["false", "nil"], sent_by_rails("public \"public\"", 'File.symlink("assets", "public/packs")')
  end

  def test_the_applications_own_header_counts
    assert_equal ["true", "\"X-Accel-Redirect\""], sent_by_rails("x_sendfile \"files\"",
      setup: 'TestApplication.config.action_dispatch.x_sendfile_header = "X-Accel-Redirect"')
  end
end
