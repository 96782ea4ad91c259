# frozen_string_literal: true

require "json"
require_relative "../support/sequel_databases"

# Of the plugin :pelton.
class PeltonPluginTest < PeltonTest
  include SequelDatabases

  def setup
    @database = connect
    @database.create_table(:artists) do
      primary_key :id
      String :name
      String :role
      Time :created_at
      Time :updated_at
    end
    @database.create_table(:albums) do
      primary_key :id
      Integer :artist_id
      String :name
    end
    base = Class.new(Sequel::Model) { plugin :pelton }
    @album = album = model(base, :albums)
    @artist = model(base, :artists) { one_to_many :albums, class: album, key: :artist_id }
    @base = base
  end

  def test_finds_are_merged
    artists
    Pelton.run { Pelton.map([1, 2]) { |id| @artist[id] } }

    assert_equal 1, @database.stats[:merged]
  end

  def test_associations_are_loaded_together
    artists
    @artist.all.then do |found|
      assert_equal 1, queries { found.each { |artist| artist.albums.size } }
    end
  end

  def test_timestamps
    artist = @artist.create(name: "Ann")

    assert_kind_of Time, artist.created_at
    assert_equal artist.created_at, artist.updated_at
    artist.update(updated_at: nil, name: "Bob")
    assert_kind_of Time, artist.updated_at
    assert_equal "One", @album.create(name: "One").name # whose table has none
  end

  def test_validations_have_helpers
    @artist.define_method(:validate) { validates_presence(:name) }

    assert_equal({name: ["is not present"]}, @artist.new.tap(&:valid?).errors)
  end

  def test_allowed_columns
    @artist.set_allowed_columns(:name)

    assert_equal "Ann", @artist.new(name: "Ann").name
    assert_raises(Sequel::MassAssignmentRestriction) { @artist.new(name: "Ann", role: "admin") }
  end

  # As a form has them: Sequel's default is to set nil for each name that is a String.
  def test_fields_have_names_that_are_texts_and_what_is_missing_stays
    artist = @artist.new(name: "Bob", role: "reader").set_fields({"name" => "Ann", "id" => "5"}, %i[name role])

    assert_equal "Ann", artist.name
    assert_equal "reader", artist.role
    assert_nil artist.id
  end

  def test_json
    artists

    assert_equal ["Ann", "Bob"], JSON.parse(@artist.order(:id).to_json).map { |artist| artist["name"] }
    assert_equal({"id" => 1, "name" => "Ann"}, JSON.parse(@artist[1].to_json(only: %i[id name])))
    assert_equal ["Ann"], JSON.parse(@artist.order(:id).pelton_page(per: 1).to_json).map { |artist| artist["name"] }
  end

  def test_dependent_objects_go_with_their_owner
    artists
    @artist.add_association_dependencies(albums: :destroy)
    @artist[1].destroy

    assert_equal [2], @album.select_map(:artist_id)
  end

  def test_the_models_are_known
    assert_empty [@album, @artist] - @base.descendants
  end

  def test_active_model
    artists

    artist = @artist[1]
    assert_equal "1", artist.to_param
    assert_equal [1], artist.to_key
    assert_equal true, artist.persisted?
    assert_equal [], artist.errors[:name]
  end

  def test_without_active_model
    output = ruby_output(<<~RUBY, gems: true)
      module Kernel
        alias_method :require_anything, :require
        def require(name)
          if name == "active_model"
            raise(LoadError.new("none").tap { |error| error.instance_variable_set(:@path, name) })
          else
            require_anything(name)
          end
        end
      end
      require "pelton/sequel"
      DB = Pelton::Sequel.connect("sqlite::memory:")
      DB.create_table(:tags) { primary_key :id }
      Sequel::Model.plugin :pelton
      class Tag < Sequel::Model; end
      puts Tag.create.id, Tag.method_defined?(:to_param)
    RUBY

    assert_equal "1\nfalse\n", output
  end

  def test_an_active_model_that_cannot_be_loaded_is_an_error
    _, errors, status = run_ruby(<<~RUBY, gems: true)
      module Kernel
        alias_method :require_anything, :require
        def require(name)
          (name == "active_model") ? require_anything("active_support/nothing_at_all") : require_anything(name)
        end
      end
      require "sequel"
      require "pelton/sequel"
      Sequel::Model.plugin :pelton
    RUBY

    refute_predicate status, :success?
    assert_includes errors, "nothing_at_all"
  end

  # Sequel's plugins stay configurable.
  def test_what_is_configured_later_counts
    @artist.plugin(:timestamps, update_on_create: false)
    @artist.merge_finds = false

    assert_nil @artist.create(name: "Ann").updated_at
    refute_predicate @artist, :merges_finds?
  end

  private

  def model(base, table, &block)
    Class.new(base) do
      set_dataset(table)
      class_eval(&block) if block
    end
  end

  def artists
    @database[:artists].import([:name], [["Ann"], ["Bob"]])
    @database[:albums].import(%i[artist_id name], [[1, "One"], [2, "Two"]])
  end
end
