# frozen_string_literal: true

require_relative "../support/sequel_databases"

class PeltonTogetherTest < PeltonTest
  include SequelDatabases

  def setup
    super
    @database = connect
    @database.create_table(:artists) do
      primary_key :id
      String :name
    end
    @database.create_table(:albums) do
      primary_key :id
      Integer :artist_id
    end
    @database[:artists].import([:name], Array.new(5) { |index| ["artist #{index}"] })
    @database[:albums].import([:artist_id], Array.new(100) { |index| [index % 5 + 1] })
    @artists, @albums = %i[artists albums].map do |name|
      Class.new(Sequel::Model(@database[name])) { plugin :pelton_together }
    end
    @artists.one_to_many :albums, class: @albums, key: :artist_id
    @albums.many_to_one :artist, class: @artists, key: :artist_id
  end

  def test_a_page_over_100_objects_makes_2_queries
    assert_equal(2, queries { assert_equal "artist 3", @albums.order(:id).all.map { |album| album.artist.name }[3] })
    assert_equal(2, queries { assert_equal [20] * 5, @artists.order(:id).all.map { |artist| artist.albums.size } })
    assert_equal(3, queries { @albums.all.each { |album| album.artist.albums.size } })
  end

  # Each query parks its fiber, as those of a server do.
  def test_nobody_sees_a_load_that_is_not_done
    subscription = Pelton::Notifications.subscribe("query.sequel") { sleep 0.001 if Pelton.running? }
    sent = queries do
      Pelton.run do
        assert_equal 100, Pelton.map(@albums.order(:id).all) { |album| album.artist.name }.size
        assert_equal [20] * 5, Pelton.map(@artists.order(:id).all) { |artist| artist.albums.size }
      end
    end

    assert_equal 4, sent
  ensure
    Pelton::Notifications.unsubscribe(subscription)
  end

  def test_an_association_that_could_not_be_loaded_is_loaded_later
    albums = @albums.order(:id).limit(3).all
    @database.rename_table(:artists, :elsewhere)
    Pelton.run do
      assert_raises(Sequel::DatabaseError) { albums[0].artist }
      @database.rename_table(:elsewhere, :artists)

      assert_equal ["artist 0", "artist 1", "artist 2"], albums.map { |album| album.artist.name }
    end
  end

  def test_what_was_loaded_stays_until_it_is_reloaded
    first, second = @albums.order(:id).where(artist_id: [1, 2]).all
    first.artist
    @artists.dataset.update(name: "new")

    assert_equal "artist 1", second.artist.name
    assert_equal "new", second.artist(reload: true).name
  end
end
