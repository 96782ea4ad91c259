# frozen_string_literal: true

class Membership < Pelton::Record::Model
  belongs_to :room
  belongs_to :user
end
