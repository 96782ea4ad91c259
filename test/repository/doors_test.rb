# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/doors"

# Rooms meet at public methods and at doors (the rooms' READMEs), never at private names.
class DoorsTest < PeltonTest
  # Folders of lib/pelton that are rooms; the rest of lib/ and of ext/ is the runtime.
  ROOMS = %w[cable cluster command http integrations memcached opentelemetry pubsub resumable_stream].freeze
  C_ROOMS = %w[http memcached].freeze

  # What reaches into a library that is not Pelton's, whose interface has no public method for it.
  LIBRARIES = %w[
    lib/pelton/http/websocket/deflate.rb
    pelton-rails/lib/pelton/rails/cable/client.rb
    pelton-rails/lib/pelton/rails/cable_sockets.rb
  ].freeze

  def files(*extensions) = Dir["{lib,ext,pelton-*/lib}/**/*.{#{extensions.join(",")}}", base: ROOT].sort

  def read(file) = File.read("#{ROOT}/#{file}")

  def room(file)
    case file
    when %r{\Alib/pelton/(\w+)[./]} then ROOMS.include?($1) ? $1 : "runtime"
    when %r{\Alib/rack} then "http"
    when %r{\Aext/pelton/ruby/(\w+)/} then C_ROOMS.include?($1) ? $1 : "runtime"
    when %r{\Apelton-rails/lib/pelton/active_record} then "active_record"
    when %r{\A(pelton-\w+)/} then $1
    else "runtime"
    end
  end

  # The rooms that define a name.
  def definitions
    files("rb", "c").each_with_object(Hash.new { |all, name| all[name] = [] }) do |file, all|
      text = read(file)
      names = text.scan(/\bdef (?:self\.)?(_\w+[?!=]?)/) + text.scan(/rb_define\w*\([^"]*"(_\w+[?!=]?)"/)
      names += text.scan(/\battr_\w+ (:_\w+(?:, :\w+)*)/).flatten.flat_map { |list| list.scan(/:(_\w+)/) }
      names.flatten.each { |name| all[name.delete_suffix("=")] |= [room(file)] }
    end
  end

  # Lines of code, without comments.
  def lines(file)
    read(file).lines.map.with_index(1) { |line, number| ["#{file}:#{number}", line.sub(/(?:^|\s)#(?!\{).*/, "")] }
  end

  def test_no_room_uses_an_underscored_name_of_another
    defined = definitions
    found = files("rb").flat_map do |file|
      lines(file).filter_map do |place, line|
        names = line.scan(/(?:\.|[(\s]:)(_[a-z]\w*[?!]?)/).flatten
        foreign = names.select { |name| defined.key?(name) && !defined[name].include?(room(file)) }
        "#{place}: #{foreign.join(", ")}" if foreign.any?
      end
    end

    assert_empty found, "make it a door of its room"
  end

  def test_no_room_calls_what_another_keeps_private
    own = Hash.new do |all, file|
      all[file] = files("rb").select { |one| room(one) == room(file) }
        .flat_map { |one| read(one).scan(/def (\w+[?!=]?)/).flatten }
    end
    private_names = definitions
    found = (files("rb") - LIBRARIES).flat_map do |file|
      lines(file).filter_map do |place, line|
        names = line.scan(/\b(?:__send__|send|public_send)\(:(\w+[?!=]?)/).flatten
        foreign = names.select do |name|
          pelton?(name) && !own[file].include?(name) && !private_names[name].include?(room(file))
        end
        "#{place}: #{foreign.join(", ")}" if foreign.any?
      end
    end

    assert_empty found, "make it a door of its room"
  end

  # Whether some file of Pelton's defines the method.
  def pelton?(name)
    @methods ||=
      files("rb", "c").flat_map do |file|
        read(file).scan(/\bdef (?:self\.)?(\w+[?!=]?)|rb_define\w*\([^"]*"(\w+[?!=]?)"/).flatten.compact
      end.uniq
    @methods.include?(name)
  end

  def test_no_room_reads_an_instance_variable_of_another
    owners = Hash.new do |all, name|
      all[name] =
        files("rb").select { |file| read(file).match?(/(?<!:)#{Regexp.escape(name)}\b/) }.map { |file| room(file) }.uniq
    end
    found = (files("rb") - LIBRARIES).flat_map do |file|
      lines(file).filter_map do |place, line|
        names = line.scan(/instance_variable_[gs]et\(:(@\w+)/).flatten
        foreign = names.select { |name| owners[name].any? && !owners[name].include?(room(file)) }
        "#{place}: #{foreign.join(", ")}" if foreign.any?
      end
    end

    assert_empty found, "give it a reader"
  end

  def test_each_door_exists_and_leads_somewhere
    used = files("rb", "c").to_h { |file| [file, read(file)] }
    closed = Doors.all.reject do |door, readme|
      name = door[/[.#](\w+[?!=]?)\z/, 1].delete_suffix("=")
      used.any? { |file, text| room(file) != room(readme) && text.match?(/\b#{Regexp.escape(name)}(?!\w)/) }
    end

    assert_empty closed.keys, "used by no other room"
    refute_empty Doors.all
  end
end
