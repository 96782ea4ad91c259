# frozen_string_literal: true

require_relative "../test_helper"
require "open3"

# The arrows between the gems of this repository (docs/internals/architecture.md).
class GemsTest < PeltonTest
  # The files that other gems may require: of the gem pelton those of its rooms that it documents, and those that load
  # nothing.
  RUNTIME =
    %w[pelton pelton/version pelton/address pelton/clock pelton/metrics pelton/control pelton/tasks/list pelton/sql_text
      pelton/test].freeze
  ROOMS =
    %w[pelton/memcached pelton/http pelton/pubsub pelton/cluster pelton/cable pelton/async_record
      pelton/resumable_stream].freeze
  EVENTMACHINE = %w[pelton-eventmachine pelton/eventmachine].freeze

  # A gem and what its files may require of other gems.
  MAY_REQUIRE = {
    "pelton" => [],
    "pelton-eventmachine" => RUNTIME + %w[pelton/memcached pelton/http pelton/eventmachine],
    "pelton-lab" => RUNTIME + ROOMS + EVENTMACHINE + %w[pelton/sequel pelton/web pelton/web/cable],
    "pelton-rails" => RUNTIME +
      %w[pelton/memcached pelton/http pelton/pubsub pelton/cable pelton/merging pelton/resumable_stream],
    "pelton-sequel" => RUNTIME + %w[pelton/merging pelton/resumable_stream],
    "pelton-web" => RUNTIME + %w[pelton/memcached pelton/http pelton/cable pelton/resumable_stream]
  }.freeze

  # The files that load a gem on which their own does not depend, and name the gem to install when it is missing.
  DOORS = {
    "lib/pelton/eventmachine.rb" => %w[pelton-eventmachine],
    "pelton-lab/lib/pelton/lab/applications/models_active_record.ru" => %w[pelton/active_record],
    "pelton-lab/lib/pelton/lab/experiments/finds.rb" => %w[pelton/active_record]
  }.freeze

  # The gems that come with Ruby 4.1 and are no default gems: gems/bundled_gems in its source, and lib/bundled_gems.rb,
  # whose SINCE says that logger, ostruct, benchmark, irb and others became such in 4.0, tsort in 4.1. Ruby 4.0 has
  # dropped cgi but for cgi/escape.
  BUNDLED = %w[
    abbrev base64 benchmark bigdecimal csv debug drb fiddle getoptlong irb logger matrix minitest mutex_m net-imap
    net-smtp nkf observer
    ostruct power_assert prime pstore racc rake rbs rdoc readline reline repl_type_completor resolv-replace rexml rinda
    rss syslog
    test-unit tsort typeprof win32-registry win32ole
    cgi net-ftp net-pop
  ].freeze

  # The files that say which gem to install when it is missing: irb's own dependencies would be compiled on Ruby 3.1.
  ASKS_FOR = {"pelton-sequel/lib/pelton/sequel/command.rb" => %w[irb],
              "pelton-web/lib/pelton/web/development/console.rb" => %w[irb]}.freeze

  # The entry files of whole gems.
  WHOLE = {"pelton" => "pelton/command", "pelton-eventmachine" => "pelton/eventmachine",
           "pelton-lab" => "pelton/lab/command",
           "pelton-rails" => "pelton/rails",
           "pelton-sequel" => "pelton/sequel", "pelton-web" => "pelton/web"}.freeze

  def test_every_gem_is_known
    assert_equal MAY_REQUIRE.keys, gemspecs.keys
  end

  def test_no_gem_requires_another_s_inner_files
    gemspecs.each_key do |gem|
      files_of(gem).each do |file|
        foreign = required_by(file).reject do |feature|
          owner_of(feature) == gem || DOORS.fetch(file, []).include?(feature)
        end

        assert_empty foreign - MAY_REQUIRE.fetch(gem), "required by #{file}"
      end
    end
  end

  # A file that is required by its path belongs to the same gem.
  def test_no_path_leads_out_of_a_gem
    gemspecs.each_key do |gem|
      files_of(gem).each do |file|
        targets = read(file).scan(/\brequire_relative "([^"]+)"/).map do |path,|
          File.expand_path(path, "/#{File.dirname(file)}")
        end

        assert_empty targets.reject { |path| path.start_with?("/#{folder_of(gem)}lib/") }, "required by #{file}"
      end
    end
  end

  # If two gems had a file of the same name, the load path would decide which of the two is loaded.
  def test_no_two_gems_have_a_file_of_the_same_name
    assert_empty(gemspecs.keys.flat_map { |gem| features_of(gem) }.tally.select { |_, count| count > 1 })
  end

  def test_a_gem_depends_on_what_it_requires_and_accepts_the_minor_versions_of_others
    gemspecs.each do |gem, spec|
      needed =
        files_of(gem).flat_map { |file| required_by(file) - DOORS.fetch(file, []) }
          .filter_map { |feature| owner_of(feature) }.uniq - [gem]
      declared = spec.runtime_dependencies.map(&:name).grep(/\Apelton/)

      assert_empty needed - declared, gem
      assert_equal gemspecs.fetch("pelton").version, spec.version
      assert_equal declared.map { "~> 0.1" },
        spec.runtime_dependencies.filter_map { |one| one.requirement.to_s if declared.include?(one.name) }, gem
    end
  end

  def test_the_gem_pelton_depends_on_rack_and_logger_alone
    assert_equal %w[rack logger], gemspecs.fetch("pelton").runtime_dependencies.map(&:name)
  end

  # Under Bundler a program has Ruby's default gems, and of the others those alone that a Gemfile or a gemspec names.
  def test_a_gem_depends_on_the_bundled_gems_that_it_requires
    gemspecs.each do |gem, spec|
      available = dependencies_of(spec)
      files_of(gem).each do |file|
        needed = features_in(file).filter_map { |feature| bundled_gem_of(feature) }.uniq - ASKS_FOR.fetch(file, [])

        assert_empty needed - available, "required by #{file}"
      end
    end
  end

  def test_a_file_that_asks_for_a_bundled_gem_requires_it
    ASKS_FOR.each do |file, gems|
      assert_equal gems, features_in(file).filter_map { |feature| bundled_gem_of(feature) } & gems, file
    end
  end

  # Without RubyGems, but Active Support asks for versions.
  def test_each_loads_with_nothing_but_what_it_depends_on
    gemspecs.each do |gem, spec|
      libraries = [gem, *dependencies_of(spec)].flat_map { |name| load_paths_of(name) }.map { |path| "-I#{path}" }
      output, status = Open3.capture2e(child_environment, RbConfig.ruby, "-W1", "--disable=gems", *libraries, "-e",
        "module Gem; end; require 'rubygems/version'; require '#{WHOLE.fetch(gem)}'")

      assert status.success?, output
    end
  end

  def test_the_licence_is_in_each
    gemspecs.each_value { |spec| assert_equal read("LICENSE"), File.read(File.join(spec.full_gem_path, "LICENSE")) }
  end

  private

  # The names of all gems that a gem needs. The gem pelton requires rack only where it is used, so it loads without.
  def dependencies_of(spec, names = [])
    (spec.runtime_dependencies.map(&:name) - names - ((spec.name == "pelton") ? ["rack"] : [])).each do |name|
      names << name
      dependencies_of(gemspecs[name] || Gem::Specification.find_by_name(name), names)
    end
    names
  end

  def load_paths_of(name)
    gemspecs.key?(name) ? ["#{ROOT}/#{folder_of(name)}lib"] : Gem::Specification.find_by_name(name).full_require_paths
  end

  # Sorted by name, after the gem at the root.
  def gemspecs
    @gemspecs ||= Dir["{,pelton-*/}pelton*.gemspec", base: ROOT].to_h do |path|
      spec = Gem::Specification.load(File.join(ROOT, path))
      spec.full_gem_path = File.dirname(File.join(ROOT, path))
      [spec.name, spec]
    end
  end

  def folder_of(gem) = (gem == "pelton") ? "" : "#{gem}/"

  # The Ruby files of a gem, relative to the repository.
  def files_of(gem)
    (@files ||= {})[gem] ||= gemspecs.fetch(gem).files.grep(/\.(rb|ru)\z|\Aexe\//).grep_v(/\Aext\//).map do |path|
      folder_of(gem) + path
    end
  end

  # The names by which its files can be required.
  def features_of(gem)
    Dir["#{folder_of(gem)}lib/**/*.rb", base: ROOT].map do |path|
      path.delete_prefix("#{folder_of(gem)}lib/").delete_suffix(".rb")
    end
  end

  def owner_of(feature) = gemspecs.keys.find { |gem| features_of(gem).include?(feature) }

  # Pelton's files that a file requires or loads later, by their names on the load path. Programs in strings are seen as
  # well.
  def required_by(file)
    read(file).scan(/\b(?:require|require_gem|autoload)\b[ (]+(?::?\w+, *)?["']((?:sequel\/\w+\/)?pelton[^"']*)["']/)
      .flatten
      .reject { |feature| feature.include?("\#{") }
      .uniq
  end

  # All that a file requires or loads later, by its name on the load path.
  def features_in(file)
    read(file).scan(/\b(?:require|require_gem|autoload)\b[ (]+(?::?\w+, *)?["']([\w\-\/]+)["']/).flatten
  end

  # The gem whose name the feature has, or begins with: bigdecimal/util is of bigdecimal, net/ftp of net-ftp.
  def bundled_gem_of(feature)
    BUNDLED.find { |gem| feature != "cgi/escape" && "#{feature.tr("/", "-")}-".start_with?("#{gem}-") }
  end

  def read(file) = File.read(File.join(ROOT, file))
end
