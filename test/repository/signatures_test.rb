# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/doors"

# The gems' sig/ declares exactly the public methods, and their types.
class SignaturesTest < PeltonTest
  # Methods that are public only for other files of their room.
  INTERNAL =
    %w[Pelton.report_stall Pelton::Watchdog.report_to Pelton::Test.refuse_leftovers Pelton::Sequel::Test.enter
      Pelton::Sequel::Test.leave Pelton::Sequel.limit
      Pelton::HTTP::Configuration#acme_files Pelton::Cable::Channel.actions Pelton::Cable::Server.stats
      Pelton::Cable::Server.all Pelton::Web::Connection.helper_method
      Pelton::AsyncRecord.extended Pelton::AsyncRecord.choose].freeze
  # Likewise, of the cable's server.
  CABLE =
    %w[gap public_streams closed too_slow sessions count disconnects recovery opened accept refuse failed channel_class
      streams limits pubsub within_time presence].map { |name| "Pelton::Cable::Server##{name}" }.freeze
  # In a Ruby of its own, because rbs comes with Ruby, not with the bundle. Arguments: the folder, then the methods that
  # need no declaration.
  PROGRAM = <<~'RUBY'
    begin
      gem "rbs"
    rescue LoadError
      exit 3
    end
    require "rbs"
    require "pelton"
    require "pelton/test"
    require "pelton/memcached"
    require "pelton/pubsub"
    require "pelton/resumable_stream"
    require "pelton/async_record"
    require "pelton/http"
    require "pelton/http/launcher"
    unloadable = []
    begin
      require "pelton/http/websocket"
      require "pelton/cable"
      require "pelton/cable/test"
    rescue LoadError
      unloadable << "websocket.rbs" << "cable.rbs" # only the bundle has their gems
    end

    require "pelton/eventmachine"
    begin
      require "pelton/sequel"
      require "pelton/sequel/migrations"
      require "pelton/sequel/page"
      require "pelton/sequel/test"
    rescue LoadError
      unloadable << "sequel.rbs" # its gem needs others
    end

    begin
      require "pelton/web"
      require "pelton/web/test"
      require "pelton/web/cable"
    rescue LoadError
      # so do its
      unloadable << "web.rbs" << "web_controller.rbs" << "web_security.rbs" << "web_settings.rbs" << "web_pages.rbs" <<
        "web_fragments.rbs" << "web_channels.rbs"
    end

    # Only some tests have Rails: these classes are derived from Rails' own, or name them.
    rails = %w[
      ActiveJob ActiveJob::QueueAdapters ActiveJob::QueueAdapters::PeltonAdapter
      Pelton::ActiveRecord Pelton::ActiveRecord::AsynchronousQueries Pelton::ActiveRecord::AsynchronousQueries::Executor
      Pelton::ActiveRecord::ConnectionManagement Pelton::ActiveRecord::Merging
      Pelton::ActiveRecord::Merging::ClassMethods
      Pelton::Rails::Cable Pelton::Rails::JobLimits Pelton::Rails::JobLimits::ClassMethods Pelton::Rails::LiveStreams
    ]
    begin
      require "active_support/cache/pelton_store"
      require "pelton/active_record/lock_queue"
      require "pelton/rails/notifications"
      require "pelton/rails/resumable_streams"
      require "pelton/rails/solid_queue"
      Pelton::Rails::ResumableStreams::Model # its file has methods of the module around it
    rescue LoadError
      unloadable << "rails.rbs" # so do its
    end

    # {"Pelton" => {".run" => [:grace]}}: the names of keywords; nil where any will do.
    DECLARED = Hash.new { |all, path| all[path] = {} }
    PRIVATE = Hash.new { |all, path| all[path] = {} }

    def names(types)
      types.flat_map { |one| one.type.optional_keywords.keys + one.type.required_keywords.keys }.uniq.sort
    end

    def read(member, path, declared = DECLARED)
      case member
      when RBS::AST::Declarations::Class, RBS::AST::Declarations::Module
        inside = [path, member.name.to_s].compact.join("::")
        DECLARED[inside]
        private = false
        member.members.each do |one|
          next private = true if one.is_a?(RBS::AST::Members::Private)
          read(one, inside, private ? PRIVATE : DECLARED)
        end
      when RBS::AST::Members::MethodDefinition
        types = member.respond_to?(:overloads) ? member.overloads.map(&:method_type) : member.types
        any = types.any? { |one| one.type.rest_keywords }
        declared[path]["#{member.kind == :singleton ? "." : "#"}#{member.name}"] = any ? nil : names(types)
      when RBS::AST::Members::AttrReader, RBS::AST::Members::AttrAccessor
        DECLARED[path]["##{member.name}"] = []
        DECLARED[path]["##{member.name}="] = [] if member.is_a?(RBS::AST::Members::AttrAccessor)
      when RBS::AST::Members::Alias
        DECLARED[path]["##{member.new_name}"] = DECLARED[path]["##{member.old_name}"]
      end
    end

    def complain(method, name, path, declared)
      return if name.match?(/[.#]_/) || ARGV.include?("#{path}#{name}")
      return puts "#{path}#{name} is there, but not declared" unless declared.key?(name)
      keywords = method.parameters.filter_map { |kind, keyword| keyword if %i[key keyreq].include?(kind) }.sort
      # it is written in C, or passes its arguments on
      return if keywords.empty? && method.parameters.any? { |kind,| %i[rest keyrest].include?(kind) }
      return if method.parameters.assoc(:keyrest) && (keywords - [*declared[name]]).empty? # so it does with the others
      puts "#{path}#{name} has the keywords #{keywords}" unless [nil, keywords].include?(declared[name])
    end

    Dir["{sig,pelton-*/sig}/*.rbs", base: root = ARGV.shift].map { |file| File.join(root, file) }.each do |file|
      next if unloadable.include?(File.basename(file))
      [RBS::Parser.parse_signature(File.read(file))].flatten.each { |one| read(one, nil) if one.respond_to?(:members) }
    end
    puts "#{DECLARED.values.sum(&:size)} methods"
    DECLARED.each do |path, own|
      next if rails.include?(path)
      mod = Object.const_get(path)
      all = mod.ancestors.reverse.map { |one| DECLARED.fetch(one.name, {}) }.inject(:merge)
      # Of EventMachine's API a part alone is declared, and of pelton-rails what applications call.
      whole = !path.match?(/\A(?:EventMachine|Pelton::Rails|Pelton::ActiveRecord|Active\w+)\b/)
      mod.singleton_methods(false).each do |name|
        complain(mod.method(name), ".#{name}", path, own) if whole || own.key?(".#{name}")
      end
      mod.public_instance_methods(false).each do |name|
        complain(mod.instance_method(name), "##{name}", path, all) if whole || own.key?("##{name}")
      end
      PRIVATE[path].each_key do |name|
        unless mod.private_method_defined?(name[1..], false)
          next puts "#{path}#{name} is declared, but no private method"
        end
        complain(mod.instance_method(name[1..]), name, path, PRIVATE[path])
      end
      own.each_key do |name|
        there =
          name.start_with?(".") ? mod.respond_to?(name[1..]) : mod.method_defined?(name[1..]) || name == "#initialize"
        puts "#{path}#{name} is declared, but not there" unless there
      end
    end
  RUBY

  def test_each_declared_method_exists_and_each_public_method_is_declared
    output, errors, status = run_ruby(PROGRAM, ROOT, *INTERNAL, *CABLE, *Doors.all.keys, gems: true)
    skip "this Ruby has no rbs" if status.exitstatus == 3
    assert status.success?, errors
    count, *complaints = output.lines(chomp: true)

    assert_operator count.to_i, :>, 100
    assert_empty complaints, "correct sig/"
  end

  # `untyped` remains where only the program knows: parsed JSON, cached values, models, objects of other gems.
  def test_at_most_a_twentieth_of_the_declared_forms_is_untyped
    forms = lines.grep(/\A\s*(?:def|attr_\w+|\|) /)
    untyped = forms.grep(/\buntyped\b/)

    assert_operator forms.size, :>, 1000
    assert_operator untyped.size, :<=, forms.size / 20, "of #{forms.size} forms these are untyped:\n#{untyped.join}"
  end

  def test_no_alias_hides_untyped = assert_empty(lines.grep(/\A\s*type .*\buntyped\b/))

  private

  def lines = Dir["{sig,pelton-*/sig}/*.rbs", base: ROOT].flat_map { |file| File.readlines(File.join(ROOT, file)) }
end
