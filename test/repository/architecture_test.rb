# frozen_string_literal: true

require "ripper"
require_relative "../test_helper"

# The arrows between the rooms of the gem pelton's lib/ (docs/internals/architecture.md). Those of ext/ are in
# c_architecture_test.rb, those between the gems in gems_test.rb.
class ArchitectureTest < PeltonTest
  # A room and the other rooms that it may load. All may load the runtime, which is lib/pelton.rb and lib/pelton/*.rb
  # but the rooms' own entries.
  ROOMS = {
    "memcached" => %w[],
    "pubsub" => %w[],
    "resumable_stream" => %w[pubsub],
    "http" => %w[pubsub],
    "cable" => %w[pubsub http],
    "cluster" => %w[],
    "faraday" => %w[http],
    "opentelemetry" => %w[memcached http], # which it instruments
    "command" => %w[memcached pubsub http cluster] # the command line: lib/pelton/command.rb
  }.freeze

  # The rooms of pelton-web, each of which may use those before it: a folder with the file of its name, or that file
  # alone.
  WEB = %w[error settings request response stream fragments security sessions routes views page controller development
    middleware channels loading application cable
    command generators fastr test].freeze

  # Files without a test of their own name, and the reasons.
  UNTESTED = {
    "lib/pelton.rb" => "requires the runtime's files, which have theirs",
    "lib/pelton/cluster.rb" => "requires the room's files, which have theirs",
    "lib/pelton/version.rb" => "one constant",
    "lib/pelton/http/companions.rb" => "tested in integration/companion_test.rb",
    "lib/pelton/http/acme.rb" => "requires the folder's files, which have theirs",
    "lib/pelton/http/acme/order.rb" => "tested with a real authority in integration/acme_test.rb",
    **%w[event memory pieces writer]
      .to_h { |name| ["lib/pelton/resumable_stream/#{name}.rb", "tested together in resumable_stream_test.rb"] },
    "pelton-lab/lib/pelton/lab/web/persistent_clients.rb" => "tested by its classes' tests, page_clients_test.rb and " \
      "signed_in_clients_test.rb",
    "pelton-rails/lib/pelton/rails.rb" => "requires the gem's files, which have theirs",
    **%w[action_cable client event_loop identifiers streams topics worker]
      .to_h do |name|
        ["pelton-rails/lib/pelton/rails/cable/#{name}.rb", "tested together in downstream/cable_test.rb"]
      end,
    **%w[channel columns controller following helper model record_store].to_h do |name|
      ["pelton-rails/lib/pelton/rails/resumable_streams/#{name}.rb",
        "tested together in downstream/resumable_streams_test.rb"]
    end,
    "pelton-rails/lib/action_cable/subscription_adapter/pelton.rb" => "tested in downstream/cable_test.rb",
    "pelton-sequel/lib/pelton/sequel/sqlite.rb" => "requires the files of the folder, which have theirs",
    **%w[deadline fragments stream]
      .to_h do |name|
        ["pelton-web/lib/roda/plugins/pelton_#{name}.rb", "tested together in downstream/roda_and_sinatra_test.rb"]
      end,
    "pelton-web/lib/pelton/web.rb" => "requires the gem's files, which have theirs"
  }.freeze

  LIBRARIES = %w[ActionCable ActionController ActionDispatch ActiveModel ActiveRecord ActiveSupport EventMachine EM
    Faraday I18n OpenTelemetry Rails Sentry Sequel
    Sinatra Thin WebMock].freeze

  # Declarations, which pelton-lab/test/experiments_test.rb checks, and test/integration/lab_test.rb runs.
  EXPERIMENTS = "pelton-lab/lib/pelton/lab/experiments/*.rb"

  # Parts of applications, which test/integration/lab_applications_test.rb runs.
  APPLICATIONS = "pelton-lab/lib/pelton/lab/applications/{rails_engines,jobs}/**/*.rb"

  def test_each_room_loads_alone_and_loads_only_what_it_may
    rooms = rooms_present
    rooms_loaded_by(*rooms.map { |room| "pelton/#{room}" }).zip(rooms) do |loaded, room|
      assert_includes loaded, room
      assert_empty loaded - [room] - ROOMS.fetch(room), "loaded by #{room}"
    end
  end

  def test_the_runtime_loads_no_room
    assert_equal [[]], rooms_loaded_by("pelton")
  end

  # Also finds files that a method requires later.
  def test_no_file_requires_a_room_that_its_own_may_not_use
    ruby_files.each do |file|
      room = room_of(file)
      used = required_by(file).filter_map { |required| room_of(required) }.uniq - [room]

      assert_empty used - ROOMS.fetch(room, []), "required by #{file}"
    end
  end

  # By the constants that a file names, since pelton/web.rb loads all of them.
  def test_no_room_of_the_web_uses_a_later_one
    rooms = web_constants
    root_files("pelton-web/lib/pelton/web/**/*.rb").each do |file|
      named = read(file).gsub(/(?:^|\s)# .*/, "").scan(/(?<![\w:"])(?:(?:Pelton::)?Web::)?([A-Z]\w*)/).flatten.uniq
      later = named.select { |name| rooms[name] && WEB.index(rooms[name]) > WEB.index(web_room(file)) }

      assert_empty later, "used by #{file}"
    end
  end

  # What other libraries need is in integrations/, faraday.rb and opentelemetry/, and registers itself.
  def test_the_runtime_and_its_rooms_name_no_other_library
    files = ruby_files.reject { |file| file.match?(%r{pelton/(integrations|faraday|opentelemetry)}) }
    named = files.to_h do |file|
      [file, Ripper.lex(read(file)).filter_map { |_, type, token| token if type == :on_const } & LIBRARIES]
    end

    assert_empty named.reject { |_, names| names.empty? }
  end

  # Rails sets Active Record up by this room, which works without it.
  def test_the_room_of_active_record_uses_nothing_of_rails
    files = root_files("pelton-rails/lib/pelton/active_record/**/*.rb") + ["pelton-rails/lib/pelton/active_record.rb"]
    used = files.select do |file|
      read(file).match?(/require(_relative)? "[^"]*rails|(?<!:)\bRails::(?!Railtie)|Pelton::Rails/)
    end

    assert_empty used
  end

  def test_no_file_is_long
    files = all_ruby_files + root_files("{,pelton-*/}{test,rakelib}/**/*.rb")
    long = files.to_h { |file| [file, read(file).count("\n")] }.select { |_, lines| lines > 450 }

    assert_empty long
  end

  def test_each_ruby_file_has_a_test_of_its_name
    missing = (all_ruby_files - UNTESTED.keys - root_files(EXPERIMENTS) - root_files(APPLICATIONS)).reject do |file|
      ["test/", "test/integration/", "test/downstream/"].map { |folder| test_of(file).sub("test/", folder) }
        .any? { |test| File.size?(File.join(ROOT, test)) }
    end

    assert_empty missing
    assert_empty UNTESTED.keys - all_ruby_files, "UNTESTED names files that are gone"
  end

  private

  def root_files(pattern) = Dir[pattern, base: ROOT].sort

  def ruby_files = root_files("lib/**/*.rb")

  def all_ruby_files = root_files("{,pelton-*/}lib/**/*.rb")

  # "lib/pelton/http/body.rb" => "test/http/body_test.rb", "pelton-lab/lib/pelton/lab/run.rb" =>
  # "pelton-lab/test/run_test.rb"
  def test_of(file)
    file.sub(%r{\A(pelton-(\w+)/)?lib/(?:pelton/)?(?:\2/)?}) { "#{$1}test/" }.sub(/\.rb\z/, "_test.rb")
  end

  def read(file) = File.read(File.join(ROOT, file))

  def rooms_present = ruby_files.filter_map { |file| room_of(file) }.uniq

  # "lib/pelton/memcached/client.rb", "pelton/memcached" => "memcached"; nil for the runtime. What Rack and rackup
  # require is http's.
  def room_of(file)
    return "http" if file.delete_prefix("lib/").start_with?("rackup/", "rack/")
    name = file.delete_prefix("lib/")[%r{\Apelton/(\w+)}, 1]
    name if ROOMS.key?(name)
  end

  def web_room(file) = file[%r{/web/(\w+)}, 1]

  # The constants of Pelton::Web, by the room that defines them first.
  def web_constants
    output = ruby_output(<<~RUBY, Children::LIBRARIES, gems: true)
      $LOAD_PATH.unshift(*ARGV.first.split(":"))
      require "pelton/web"
      Pelton::Web.constants.each { |name| puts "\#{name} \#{Pelton::Web.const_source_location(name).first}" }
    RUBY
    output.lines(chomp: true).to_h { |line| line.split.then { |name, file| [name, web_room(file)] } }
  end

  # The rooms that each feature loads, by itself.
  def rooms_loaded_by(*features)
    output = ruby_output(<<~RUBY, Children::LIB, *features, gems: true)
      lib = ARGV.shift + "/"
      ARGV.each do |feature|
        loading = fork do
          require feature
          puts $LOADED_FEATURES.filter_map { |path| path.delete_prefix(lib) if path.start_with?(lib) }.join(" ")
        end
        Process.wait(loading)
        abort unless $?.success?
      end
    RUBY

    output.lines.map do |line|
      refute_empty line.split
      line.split.filter_map { |path| room_of(path) }.uniq
    end
  end

  # The files, relative to lib/, that a file of Pelton requires or autoloads.
  def required_by(file)
    read(file).scan(/\b(require|require_relative|autoload)\b[ (]+(?::\w+, *)?"([^"]+)"/).map do |verb, path|
      (verb == "require_relative") ? File.expand_path(path, "/#{File.dirname(file)}").delete_prefix("/lib/") : path
    end
  end
end
