# frozen_string_literal: true

require_relative "../../../../support/rails_program"

class InstallGeneratorTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  def test_it_writes_settings_a_procfile_a_unit_and_a_page
    output = rails_output(<<~'RUBY')
      require "rails/generators"
      require "pelton/http/configuration"
      TestApplication.initialize!
      File.write("Procfile", "web: bundle exec puma\nworker: bin/jobs\n")
      Rails::Generators.invoke("pelton:install", [], destination_root: Dir.pwd)
      puts File.read("Procfile"), File.read("config/pelton.service")
      settings = Pelton::HTTP::Configuration.new.tap(&:load)
      p settings.server_options[:limit], settings.addresses.keys, settings.workers, settings.quiet
      p ActionDispatch::PublicExceptions.new("#{Dir.pwd}/public").call({"PATH_INFO" => "/504", "HTTP_ACCEPT" => "text/html"}).last.join[/<h1>.*<\/h1>/]
    RUBY

    assert_match(/^web: bundle exec pelton serve\nworker: bin\/jobs$/, output)
    assert_match(/^WorkingDirectory=\/.*^ExecStart=.*pelton serve$/m, output)
    assert_match(/^100\n\["tcp:.*:3000"\]\n0\ntrue\n"<h1>This took too long.<\/h1>"$/, output)
  end
end
