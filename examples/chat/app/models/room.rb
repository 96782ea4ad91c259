# frozen_string_literal: true

class Room < Pelton::Record::Model
  belongs_to :creator, class_name: "User", optional: true
  has_many :memberships, dependent: :delete_all
  has_many :users, through: :memberships
  has_many :messages, dependent: :delete_all
  enum :kind, [:open, :invited, :direct], default: :open, validate: true, prefix: true

  # Attributes that forms may set.
  permits :name

  validates :name, presence: true, length: {maximum: 60}, unless: :kind_direct?
end
