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
      p settings.server_options[:concurrency], settings.addresses.keys, settings.workers,
        settings.quiet, settings.public
      p ActionDispatch::PublicExceptions.new("#{Dir.pwd}/public").call({
        "PATH_INFO" => "/504",
        "HTTP_ACCEPT" => "text/html"
      }).last.join[/<h1>.*<\/h1>/]
    RUBY

    assert_match(/^web: bundle exec pelton serve\nworker: bin\/jobs$/, output)
    assert_match(/^WorkingDirectory=\/.*^ExecStart=.*pelton serve$/m, output)
    assert_includes output, "Procfile: was web: bundle exec puma"
    assert_match(/^100\n\["tcp:.*:3000"\]\n0\ntrue\n"public"\n"<h1>This took too long.<\/h1>"$/, output)
  end

  LINES = {
    "web: bundle exec puma -C config/puma.rb" => "web: bundle exec pelton serve",
    "web: RAILS_ENV=production bin/rails db:migrate && bin/rails server -p $PORT" =>
      "web: RAILS_ENV=production bin/rails db:migrate && bundle exec pelton " \
      "serve", "web: bundle exec rails s | tee log" => "web: bundle exec pelton serve | tee log",
    "web: bundle exec pelton serve -w 2" => "web: bundle exec pelton serve -w 2", "web: bin/start" => "web: bin/start",
    "worker: bin/jobs" => "worker: bin/jobs\nweb: bundle exec pelton serve"
  }.freeze

  # Whatever the line did besides.
  def test_the_procfiles_line
    output = rails_output(<<~RUBY)
      require "rails/generators"
      TestApplication.initialize!
      #{LINES.keys.inspect}.each do |line|
        File.write("Procfile", line)
        2.times { Rails::Generators.invoke("pelton:install", ["--force"], destination_root: Dir.pwd) }
        puts "<\#{File.read("Procfile").chomp}>"
      end
    RUBY

    assert_equal LINES.values, output.scan(/^<(.*?)>$/m).flatten
    assert_includes output, "Procfile: its web: starts something unknown (bin/start)"
  end

  def test_what_still_starts_puma_is_said
    output = rails_output(<<~'RUBY')
      require "rails/generators"
      require "fileutils"
      TestApplication.initialize!
      FileUtils.mkdir_p("bin")
      File.write("bin/dev", "#!/usr/bin/env ruby\nexec \"./bin/rails\", \"server\", *ARGV\n")
      File.write("Procfile.dev", "web: bin/rails server -p 3000\ncss: bin/rails css\n")
      File.write("Dockerfile", "CMD [\"./bin/thrust\", \"./bin/rails\", \"server\"]\n")
      Rails::Generators.invoke("pelton:install", [], destination_root: Dir.pwd)
      puts "---"
      File.write("bin/dev", "exec foreman start -f Procfile.dev")
      File.write("Procfile.dev", "web: bundle exec pelton serve")
      File.write("Dockerfile", "CMD [\"bundle\", \"exec\", \"pelton\", \"serve\"]")
      Rails::Generators.invoke("pelton:install", ["--force"], destination_root: Dir.pwd)
    RUBY
    before, after = output.split("---")

    assert_equal ["Procfile.dev", "bin/dev", "Dockerfile"], before.scan(/(\S+) still starts another server/).flatten
    assert_includes before, "bin/docker-entrypoint"
    refute_includes after, "still starts"
  end
end
